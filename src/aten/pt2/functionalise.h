// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/pt2/json.h"
#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic::aten::pt2 {

/// What an operator does with the memory of its first tensor.
enum class Aliasing : uint8_t {
  kFresh,  ///< its results have memory of their own
  kCopy,   ///< its result is a copy of its first tensor: clone
  kSame,   ///< its result is its first tensor: detach, alias, dropout in evaluation
  kView,   ///< its results share, or may share, the memory of its first tensor
};

/// By the target without "torch.ops.", "aten.view.default". `train`: the value of an argument of
/// that name.
Aliasing aliasing_of(std::string_view target, bool train);

/// Writes to its first tensor and returns it: "aten.add_.Tensor", "aten.__iand__.Scalar".
bool is_in_place(std::string_view target);
/// In-place, but only on sizes and strides: "aten.squeeze_.dim".
bool writes_only_shape(std::string_view target);
/// "aten.add.Tensor" for "aten.add_.Tensor".
std::string functional_name(std::string_view target);

/// Where a tensor comes from.
enum class Origin : uint8_t { kNode, kInput, kParameter, kBuffer, kConstant };

/// A tensor of the program as PyTorch sees it: what an in-place operator changes. Names that are
/// the same tensor (x and x.detach()) share it.
struct Tensor {
  Value* value = nullptr;  ///< its present content; nullptr: stored data that nothing used yet
  Origin origin = Origin::kNode;
  int storage = 0;             ///< tensors with the same number share memory
  std::string_view name;       ///< the first one
  std::string_view stored;     ///< name in the archive's tensors
  bool persistent = true;      ///< of a buffer
  int version = 0;             ///< how often its memory had been written when `value` was made
  Tensor* source = nullptr;    ///< of a view: of what
  const Node* view = nullptr;  ///< and the node that made it first
};

/// Index of the last node that uses each name; outputs count as a node after all others.
class LastUses {
 public:
  /// Takes every name for one that outputs use.
  LastUses() = default;
  LastUses(const JsonArray& nodes, const JsonArray& output_specs);
  /// -1 when nothing uses it.
  int of(std::string_view name) const;

 private:
  std::optional<std::unordered_map<std::string_view, int>> last_;
};

/// The tensors of a program by name, kept up to date through in-place operators.
class TensorTable {
 public:
  /// A tensor with memory of its own / with that of `base`. False when the name is taken.
  bool add(std::string_view name, Tensor tensor, Tensor* base = nullptr);
  /// Another name of a tensor.
  bool add_name(std::string_view name, Tensor& tensor);
  /// nullptr when there is none.
  Tensor* find(std::string_view name);
  void reserve(size_t count) { names_.reserve(count); }

  using Names = std::unordered_map<std::string_view, Tensor*>;
  /// Exchanges what names mean: a graph inside a node has names of its own, for the same tensors.
  Names exchange_names(Names names) { return std::exchange(names_, std::move(names)); }

  /// Makes `value` the content of `tensor` after node `index`, and what follows of it the content
  /// of the tensors that it is a view of. Refused (E0304) for what lives longer than a call
  /// (parameters and buffers), and when another tensor with the same memory is used later whose
  /// content then is not known.
  Status write(Tensor& tensor, Value& value, int index, const LastUses& uses);
  /// Makes the view anew when its memory was written since.
  void refresh(Tensor& tensor);

 private:
  struct Named {
    std::string_view name;
    Tensor* tensor = nullptr;
  };
  std::deque<Tensor> tensors_;
  Names names_;
  bool is_current(const Tensor& tensor) const;
  bool can_refresh(const Tensor& tensor) const;
  std::vector<std::vector<Named>> storages_;  // what shares each storage
  std::vector<int> versions_;                 // how often each was written
};

/// Calls `visit(name)` for each tensor that an argument (a union of the schema) names.
void for_each_tensor_name(const Json& argument, const std::function<void(std::string_view)>& visit);

}  // namespace tosaic::aten::pt2
