// SPDX-License-Identifier: Apache-2.0
#include "tosa/fb_storage.h"

#include <cstring>
#include <vector>

#include "numeric/packed_int.h"
#include "support/check.h"

namespace tosaic::tosa {
namespace {

static_assert(FLATBUFFERS_LITTLEENDIAN, "memory and file hold numbers alike");

constexpr size_t kI48InMemory = 8;

}  // namespace

size_t stored_bytes(DType dtype, size_t count) {
  if (dtype == DType::kI4) return numeric::int4_bytes(count);
  if (dtype == DType::kI48) return numeric::kInt48Bytes * count;
  return element_bytes(dtype) * count;
}

bool stored_as_in_memory(DType dtype) {
  return dtype != DType::kI4 && dtype != DType::kI48;
}

void store(const Constant& constant, std::span<std::byte> out) {
  if (stored_as_in_memory(constant.dtype)) return constant.materialise(out);
  std::vector<std::byte> values(constant.num_bytes());
  constant.materialise(values);
  auto* to = reinterpret_cast<uint8_t*>(out.data());
  if (constant.dtype == DType::kI4) {
    numeric::pack_int4({reinterpret_cast<const int8_t*>(values.data()), values.size()},
                       {to, out.size()});
    return;
  }
  for (size_t at = 0; at < values.size(); at += kI48InMemory, to += numeric::kInt48Bytes) {
    int64_t value = 0;
    std::memcpy(&value, values.data() + at, sizeof value);
    numeric::store_int48(value, to);
  }
}

flatbuffers::Offset<flatbuffers::Vector<uint8_t>> store(const Constant& constant,
                                                        flatbuffers::FlatBufferBuilder& fbb) {
  const auto count = static_cast<size_t>(constant.shape.num_elements());
  const size_t num_bytes = stored_bytes(constant.dtype, count);
  fbb.ForceVectorAlignment(num_bytes, 1, kDataAlignment);
  uint8_t* to = nullptr;
  const auto data = fbb.CreateUninitializedVector<uint8_t>(num_bytes, &to);
  store(constant, {reinterpret_cast<std::byte*>(to), num_bytes});
  return data;
}

void unpack(DType dtype, std::span<const std::byte> stored, std::span<std::byte> out) {
  const auto* from = reinterpret_cast<const uint8_t*>(stored.data());
  if (dtype == DType::kI4) {
    numeric::unpack_int4({from, stored.size()},
                         {reinterpret_cast<int8_t*>(out.data()), out.size()});
    return;
  }
  TOSAIC_CHECK(dtype == DType::kI48, "a type that the file packs");
  for (size_t at = 0; at < out.size(); at += kI48InMemory, from += numeric::kInt48Bytes) {
    const int64_t value = numeric::load_int48(from);
    std::memcpy(out.data() + at, &value, sizeof value);
  }
}

}  // namespace tosaic::tosa
