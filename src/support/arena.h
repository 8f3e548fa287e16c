// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tosaic {

/// A bump allocator: everything lives until the arena is destroyed. Destructors of what it holds
/// are not run, so only trivially destructible types go in.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(size_t num_bytes, size_t alignment) {
    // The address is aligned and not the offset: a block itself has only the alignment of new.
    const auto base = reinterpret_cast<uintptr_t>(block_);
    size_t begin = ((base + used_ + alignment - 1) & ~(alignment - 1)) - base;
    if (block_ == nullptr || begin + num_bytes > block_bytes_) {
      block_bytes_ = std::max<size_t>(num_bytes + alignment, size_t{1} << 16);
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block_bytes_));
      block_ = blocks_.back().get();
      begin = (alignment - reinterpret_cast<uintptr_t>(block_) % alignment) % alignment;
    }
    used_ = begin + num_bytes;
    return block_ + begin;
  }

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  /// `count` value-initialised elements.
  template <typename T>
  std::span<T> make_span(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0) return {};
    T* data = static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
    std::uninitialized_value_construct_n(data, count);
    return {data, count};
  }

  template <typename T>
  std::span<T> copy(std::span<const T> from) {
    auto to = make_span<T>(from.size());
    std::copy(from.begin(), from.end(), to.begin());
    return to;
  }

  std::string_view copy(std::string_view from) {
    auto to = make_span<char>(from.size());
    std::copy(from.begin(), from.end(), to.begin());
    return {to.data(), to.size()};
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* block_ = nullptr;
  size_t block_bytes_ = 0;
  size_t used_ = 0;
};

}  // namespace tosaic
