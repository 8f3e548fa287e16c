// SPDX-License-Identifier: Apache-2.0
#include "pte/writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "pte/check.h"
#include "pte/program_generated.h"
#include "support/little_endian.h"
#include "support/output_file.h"

namespace tosaic {
namespace {

namespace fb = pte_fb;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr std::array<std::byte, kPteSegmentAlignment> kZeros{};

uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Blobs one after the other; equal ones are stored once.
class BlobStore {
 public:
  explicit BlobStore(uint64_t alignment) : alignment_(alignment) {}

  /// Returns the number of the blob.
  size_t add(std::span<const std::byte> bytes) {
    auto [begin, end] = by_size_.equal_range(bytes.size());
    for (auto it = begin; it != end; ++it) {
      std::span<const std::byte> other = blobs_[it->second];
      bool same = other.data() == bytes.data() || bytes.empty() ||
                  std::memcmp(other.data(), bytes.data(), bytes.size()) == 0;
      if (same) return it->second;
    }
    blobs_.push_back(bytes);
    offsets_.push_back(round_up(num_bytes_, alignment_));
    num_bytes_ = offsets_.back() + bytes.size();
    by_size_.emplace(bytes.size(), blobs_.size() - 1);
    return blobs_.size() - 1;
  }

  const std::vector<std::span<const std::byte>>& blobs() const { return blobs_; }
  uint64_t offset(size_t blob) const { return offsets_[blob]; }
  uint64_t num_bytes() const { return num_bytes_; }

  /// Appends all blobs with the padding between them.
  void append_to(std::vector<std::span<const std::byte>>& pieces) const {
    uint64_t at = 0;
    for (size_t i = 0; i < blobs_.size(); i++) {
      append_padding(pieces, offsets_[i] - at);
      if (!blobs_[i].empty()) pieces.push_back(blobs_[i]);
      at = offsets_[i] + blobs_[i].size();
    }
  }

  static void append_padding(std::vector<std::span<const std::byte>>& pieces, uint64_t num_bytes) {
    if (num_bytes != 0) pieces.push_back(std::span(kZeros).first(num_bytes));
  }

 private:
  uint64_t alignment_;
  uint64_t num_bytes_ = 0;
  std::vector<std::span<const std::byte>> blobs_;
  std::vector<uint64_t> offsets_;
  std::multimap<size_t, size_t> by_size_;
};

/// Where things lie: filled before the flatbuffer is built, which names segments by number.
struct Layout {
  BlobStore constants{kPteDataAlignment};
  std::vector<uint64_t> constant_offsets = {0};  // entry 0 stands for "no constant"
  std::vector<uint32_t> constant_entries;        // by number of the constant
  BlobStore blobs{kPteSegmentAlignment};         // payloads and named data, one segment each
  std::vector<std::vector<uint32_t>> delegate_segments;
  std::vector<uint32_t> named_segments;

  explicit Layout(const PteProgram& program) {
    for (std::span<const std::byte> constant : program.constants) {
      // Equal ones share an entry: ExecuTorch's reader takes the distance to the next for the size.
      const size_t blob = constants.add(constant);
      if (blob + 1 == constant_offsets.size()) constant_offsets.push_back(constants.offset(blob));
      constant_entries.push_back(static_cast<uint32_t>(blob + 1));
    }
    // Segment 0 is that of the constants.
    auto add = [this](std::span<const std::byte> bytes) {
      return static_cast<uint32_t>(1 + blobs.add(bytes));
    };
    for (const PtePlan& plan : program.plans) {
      std::vector<uint32_t>& segments = delegate_segments.emplace_back();
      for (const PteDelegate& delegate : plan.delegates)
        segments.push_back(add(delegate.payload));
    }
    for (const PteNamedData& data : program.named_data)
      named_segments.push_back(add(data.bytes));
  }

  bool has_segments() const { return constants.num_bytes() != 0 || !blobs.blobs().empty(); }
  uint64_t blobs_begin() const { return round_up(constants.num_bytes(), kPteSegmentAlignment); }
  uint64_t num_bytes() const {
    return blobs.blobs().empty() ? constants.num_bytes() : blobs_begin() + blobs.num_bytes();
  }
};

class ProgramBuilder {
 public:
  ProgramBuilder(const PteProgram& program, const Layout& layout)
      : program_(program), layout_(layout) {}

  std::vector<std::byte> build() {
    std::vector<Offset<fb::Plan>> plans;
    for (size_t i = 0; i < program_.plans.size(); i++) {
      plans.push_back(plan(program_.plans[i], layout_.delegate_segments[i]));
    }
    std::vector<Offset<fb::DataSegment>> segments;
    if (layout_.has_segments()) {
      segments.push_back(fb::CreateDataSegment(b_, 0, layout_.constants.num_bytes()));
      for (size_t i = 0; i < layout_.blobs.blobs().size(); i++) {
        segments.push_back(fb::CreateDataSegment(
            b_, layout_.blobs_begin() + layout_.blobs.offset(i), layout_.blobs.blobs()[i].size()));
      }
    }
    std::vector<Offset<fb::NamedData>> named;
    for (size_t i = 0; i < program_.named_data.size(); i++) {
      named.push_back(fb::CreateNamedData(b_, b_.CreateString(program_.named_data[i].key),
                                          layout_.named_segments[i]));
    }
    // ExecuTorch's readers want the unused lists to be there, empty. Each is made in a statement of
    // its own, since compilers evaluate arguments in different orders.
    auto constant_segment = fb::CreateSubsegments(b_, 0, b_.CreateVector(layout_.constant_offsets));
    auto plan_list = b_.CreateVector(plans);
    auto no_constants = b_.CreateVector(std::vector<Offset<fb::Buffer>>{});
    auto no_data = b_.CreateVector(std::vector<Offset<fb::DelegateData>>{});
    auto segment_list = b_.CreateVector(segments);
    Offset<flatbuffers::Vector<Offset<fb::NamedData>>> named_list;
    if (!named.empty()) named_list = b_.CreateVector(named);
    auto root = fb::CreateProgram(b_, 0, plan_list, no_constants, no_data, segment_list,
                                  constant_segment, 0, named_list);
    b_.Finish(root, fb::ProgramIdentifier());
    auto bytes = std::as_bytes(std::span(b_.GetBufferPointer(), b_.GetSize()));
    return {bytes.begin(), bytes.end()};
  }

 private:
  Offset<void> tensor(const PteTensor& t) {
    std::vector<uint8_t> dim_order = t.dim_order;
    for (size_t i = dim_order.size(); i < t.sizes.size(); i++)
      dim_order.push_back(static_cast<uint8_t>(i));
    auto sizes = b_.CreateVector(t.sizes);
    auto order = b_.CreateVector(dim_order);
    Offset<fb::Allocation> allocation;
    if (t.storage == PteStorage::kPlanned) {
      allocation = fb::CreateAllocation(b_, t.memory_id, static_cast<uint32_t>(t.offset),
                                        static_cast<uint32_t>(t.offset >> 32));
    }
    Offset<fb::TensorExtra> extra;
    if (t.storage == PteStorage::kExternal) {
      extra = fb::CreateTensorExtra(b_, 0, b_.CreateString(t.name), fb::TensorPlace::External);
    }
    uint32_t data_index =
        t.storage == PteStorage::kConstant ? layout_.constant_entries[t.constant] : 0;
    return fb::CreateTensor(b_, static_cast<int8_t>(t.dtype), 0, sizes, order, false, data_index,
                            allocation, 0, static_cast<fb::Dynamism>(t.dynamism), extra)
        .Union();
  }

  Offset<fb::Value> value(const PteValue& v) {
    auto made = [this](fb::Kind kind, Offset<void> what) {
      return fb::CreateValue(b_, kind, what);
    };
    if (const auto* x = std::get_if<int64_t>(&v))
      return made(fb::Kind::Int, fb::CreateInt(b_, *x).Union());
    if (const auto* x = std::get_if<bool>(&v))
      return made(fb::Kind::Bool, fb::CreateBool(b_, *x).Union());
    if (const auto* x = std::get_if<double>(&v))
      return made(fb::Kind::Double, fb::CreateDouble(b_, *x).Union());
    if (const auto* x = std::get_if<PteTensor>(&v)) return made(fb::Kind::Tensor, tensor(*x));
    if (const auto* x = std::get_if<std::string>(&v)) {
      return made(fb::Kind::String, fb::CreateString(b_, b_.CreateString(*x)).Union());
    }
    if (const auto* x = std::get_if<PteIntList>(&v)) {
      return made(fb::Kind::IntList, fb::CreateIntList(b_, b_.CreateVector(x->items)).Union());
    }
    if (const auto* x = std::get_if<PteDoubleList>(&v)) {
      return made(fb::Kind::DoubleList,
                  fb::CreateDoubleList(b_, b_.CreateVector(x->items)).Union());
    }
    if (const auto* x = std::get_if<PteBoolList>(&v)) {
      return made(fb::Kind::BoolList, fb::CreateBoolList(b_, b_.CreateVector(x->items)).Union());
    }
    if (const auto* x = std::get_if<PteTensorList>(&v)) {
      return made(fb::Kind::TensorList,
                  fb::CreateTensorList(b_, b_.CreateVector(x->items)).Union());
    }
    if (const auto* x = std::get_if<PteOptionalTensorList>(&v)) {
      return made(fb::Kind::OptionalTensorList,
                  fb::CreateOptionalTensorList(b_, b_.CreateVector(x->items)).Union());
    }
    return made(fb::Kind::Null, fb::CreateNull(b_).Union());
  }

  Offset<fb::Instruction> instruction(const PteInstruction& i) {
    auto made = [this](fb::Action kind, Offset<void> what) {
      return fb::CreateInstruction(b_, kind, what);
    };
    if (const auto* x = std::get_if<PteKernelCall>(&i)) {
      return made(fb::Action::KernelCall,
                  fb::CreateKernelCall(b_, x->op, b_.CreateVector(x->args)).Union());
    }
    if (const auto* x = std::get_if<PteDelegateCall>(&i)) {
      return made(fb::Action::DelegateCall,
                  fb::CreateDelegateCall(b_, x->delegate, b_.CreateVector(x->args)).Union());
    }
    if (const auto* x = std::get_if<PteMoveCall>(&i)) {
      return made(fb::Action::MoveCall, fb::CreateMoveCall(b_, x->from, x->to).Union());
    }
    if (const auto* x = std::get_if<PteJumpFalseCall>(&i)) {
      return made(fb::Action::JumpFalseCall,
                  fb::CreateJumpFalseCall(b_, x->condition, x->destination).Union());
    }
    return made(fb::Action::FreeCall,
                fb::CreateFreeCall(b_, std::get<PteFreeCall>(i).value).Union());
  }

  Offset<fb::Delegate> delegate(const PteDelegate& d, uint32_t segment) {
    std::vector<Offset<fb::CompileSpec>> specs;
    for (const PteCompileSpec& spec : d.specs) {
      auto key = b_.CreateString(spec.key);
      auto bytes =
          b_.CreateVector(reinterpret_cast<const uint8_t*>(spec.value.data()), spec.value.size());
      specs.push_back(fb::CreateCompileSpec(b_, key, bytes));
    }
    auto id = b_.CreateString(d.id);
    auto data = fb::CreateDataReference(b_, fb::DataPlace::Segment, segment);
    return fb::CreateDelegate(b_, id, data, b_.CreateVector(specs));
  }

  Offset<fb::Plan> plan(const PtePlan& p, const std::vector<uint32_t>& segments) {
    std::vector<Offset<fb::Value>> values;
    for (const PteValue& v : p.values)
      values.push_back(value(v));
    std::vector<Offset<fb::Instruction>> instructions;
    for (const PteInstruction& i : p.instructions)
      instructions.push_back(instruction(i));
    std::vector<Offset<fb::Operator>> operators;
    for (const PteOperator& op : p.operators) {
      auto name = b_.CreateString(op.name);
      operators.push_back(fb::CreateOperator(b_, name, b_.CreateString(op.overload)));
    }
    std::vector<Offset<fb::Delegate>> delegates;
    for (size_t i = 0; i < p.delegates.size(); i++)
      delegates.push_back(delegate(p.delegates[i], segments[i]));
    auto no_indices = [this] { return b_.CreateVector(std::vector<int32_t>{}); };
    auto chain_inputs = no_indices();
    auto chain_outputs = no_indices();
    auto chain = fb::CreateChain(b_, chain_inputs, chain_outputs, b_.CreateVector(instructions));
    auto no_text = b_.CreateString("");
    auto containers = fb::CreateContainers(b_, no_text, no_text);
    auto name = b_.CreateString(p.name);
    auto value_list = b_.CreateVector(values);
    auto inputs = b_.CreateVector(p.inputs);
    auto outputs = b_.CreateVector(p.outputs);
    auto chains = b_.CreateVector(&chain, 1);
    auto operator_list = b_.CreateVector(operators);
    auto delegate_list = b_.CreateVector(delegates);
    return fb::CreatePlan(b_, name, containers, value_list, inputs, outputs, chains, operator_list,
                          delegate_list, b_.CreateVector(p.buffer_sizes));
  }

  const PteProgram& program_;
  const Layout& layout_;
  FlatBufferBuilder b_{16384};
};

/// Puts the extended header behind the identifier. 32 bytes keep every alignment of the flatbuffer.
void insert_header(std::vector<std::byte>& head, uint64_t segment_bytes) {
  constexpr size_t kAt = 8;  // behind root offset and identifier
  uint64_t program_bytes = head.size() + kPteExtendedHeaderBytes;
  std::vector<std::byte> header;
  for (char c : kPteExtendedHeader)
    header.push_back(static_cast<std::byte>(c));
  append_le(header, static_cast<uint32_t>(kPteExtendedHeaderBytes));
  append_le(header, program_bytes);
  append_le(header, round_up(program_bytes, kPteSegmentAlignment));
  append_le(header, segment_bytes);
  uint32_t root = load_le<uint32_t>(head.data()) + static_cast<uint32_t>(kPteExtendedHeaderBytes);
  std::vector<std::byte> start;
  append_le(start, root);
  std::copy(start.begin(), start.end(), head.begin());
  head.insert(head.begin() + kAt, header.begin(), header.end());
}

}  // namespace

Expected<PtePieces> lay_out_pte(const PteProgram& program) {
  TOSAIC_CHECK_OK(check_pte(program));
  for (const PtePlan& plan : program.plans) {
    for (const PteValue& value : plan.values) {
      const auto* tensor = std::get_if<PteTensor>(&value);
      if (tensor != nullptr && tensor->storage == PteStorage::kState) {
        return error(Code::kUnsupportedFeature,
                     "a program with an initial state cannot be written");
      }
    }
  }
  Layout layout(program);
  PtePieces out;
  out.head = ProgramBuilder(program, layout).build();
  if (!layout.has_segments()) {
    out.pieces.push_back(out.head);
    return out;
  }
  insert_header(out.head, layout.num_bytes());
  out.pieces.push_back(out.head);
  BlobStore::append_padding(out.pieces,
                            round_up(out.head.size(), kPteSegmentAlignment) - out.head.size());
  layout.constants.append_to(out.pieces);
  if (!layout.blobs.blobs().empty()) {
    BlobStore::append_padding(out.pieces, layout.blobs_begin() - layout.constants.num_bytes());
    layout.blobs.append_to(out.pieces);
  }
  return out;
}

Expected<std::vector<std::byte>> write_pte(const PteProgram& program) {
  TOSAIC_TRY(PtePieces pieces, lay_out_pte(program));
  std::vector<std::byte> out;
  for (std::span<const std::byte> piece : pieces.pieces)
    out.insert(out.end(), piece.begin(), piece.end());
  return out;
}

Status write_pte(const PteProgram& program, const std::string& path) {
  TOSAIC_TRY(PtePieces pieces, lay_out_pte(program));
  return write_file(path, pieces.pieces);
}

}  // namespace tosaic
