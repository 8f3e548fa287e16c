// SPDX-License-Identifier: Apache-2.0
// Programs straight out of torch.export may write to tensors in place. A tensor that is written
// gets a new value, and everything later that names it sees the new one:
//
//   y = aten.conv2d(x, w)              %y = aten.conv2d.default(%x, %w)
//   z = aten.add_.Tensor(y, x)    ->   %z = aten.add.Tensor(%y, %x)
//   return y                           return %z
//
// What is written to a view is put into what it is a view of, and other views are made again when
// they are used (view_writes.h). Programs whose views are of other kinds are refused.
#include "aten/pt2/functionalise.h"

#include <algorithm>
#include <array>
#include <climits>

#include "aten/pt2/view_writes.h"

namespace tosaic::aten::pt2 {
namespace {

// PyTorch's rules of sharing memory hold for a program whether or not a row serves its operators,
// so they are not traits of rows.
constexpr std::array<std::string_view, 9> kSame = {"alias",          "detach",       "detach_",
                                                   "lift",           "lift_fresh",   "positive",
                                                   "requires_grad_", "resolve_conj", "resolve_neg"};

constexpr std::array<std::string_view, 2> kCopies = {"clone", "lift_fresh_copy"};

/// The tensor itself unless they train.
constexpr std::array<std::string_view, 6> kSameInEvaluation = {
    "alpha_dropout", "alpha_dropout_",  "dropout",
    "dropout_",      "feature_dropout", "feature_dropout_"};

/// Those that may copy as well (reshape, contiguous, to) are taken for views.
constexpr std::array<std::string_view, 54> kViews = {"_conj",
                                                     "_reshape_alias",
                                                     "_unsafe_view",
                                                     "adjoint",
                                                     "as_strided",
                                                     "atleast_1d",
                                                     "atleast_2d",
                                                     "atleast_3d",
                                                     "broadcast_tensors",
                                                     "broadcast_to",
                                                     "chunk",
                                                     "contiguous",
                                                     "diagonal",
                                                     "dsplit",
                                                     "expand",
                                                     "expand_as",
                                                     "flatten",
                                                     "hsplit",
                                                     "imag",
                                                     "mH",
                                                     "mT",
                                                     "matrix_H",
                                                     "meshgrid",
                                                     "moveaxis",
                                                     "movedim",
                                                     "narrow",
                                                     "numpy_T",
                                                     "permute",
                                                     "ravel",
                                                     "real",
                                                     "reshape",
                                                     "reshape_as",
                                                     "select",
                                                     "slice",
                                                     "split",
                                                     "split_with_sizes",
                                                     "squeeze",
                                                     "swapaxes",
                                                     "swapdims",
                                                     "t",
                                                     "tensor_split",
                                                     "to",
                                                     "transpose",
                                                     "type_as",
                                                     "unbind",
                                                     "unflatten",
                                                     "unfold",
                                                     "unsqueeze",
                                                     "values",
                                                     "view",
                                                     "view_as",
                                                     "view_as_complex",
                                                     "view_as_real",
                                                     "vsplit"};

constexpr std::array<std::string_view, 7> kShapeWriters = {
    "as_strided_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// "add_" of "aten.add_.Tensor".
std::string_view base_name(std::string_view target) {
  const size_t begin = target.find('.');
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = target.substr(begin + 1);
  return rest.substr(0, rest.find('.'));
}

bool is_dunder(std::string_view name) {
  return name.size() > 5 && name.starts_with("__i") && name.ends_with("__");
}

}  // namespace

Aliasing aliasing_of(std::string_view target, bool train) {
  if (!target.starts_with("aten.")) return Aliasing::kFresh;
  const std::string_view name = base_name(target);
  if (contains(kSame, name)) return Aliasing::kSame;
  if (contains(kCopies, name)) return Aliasing::kCopy;
  if (contains(kSameInEvaluation, name)) return train ? Aliasing::kFresh : Aliasing::kSame;
  return contains(kViews, name) ? Aliasing::kView : Aliasing::kFresh;
}

bool is_in_place(std::string_view target) {
  const std::string_view name = base_name(target);
  return is_dunder(name) || (name.size() > 1 && name.ends_with('_') && !name.ends_with("__"));
}

bool writes_only_shape(std::string_view target) {
  return contains(kShapeWriters, base_name(target));
}

std::string functional_name(std::string_view target) {
  const std::string_view name = base_name(target);
  const size_t begin = target.find('.') + 1;
  const std::string_view overload = target.substr(begin + name.size());
  if (is_dunder(name)) {  // __iand__ -> __and__
    return fmt::format("{}__{}{}", target.substr(0, begin), name.substr(3), overload);
  }
  return fmt::format("{}{}{}", target.substr(0, begin), name.substr(0, name.size() - 1), overload);
}

void for_each_tensor_name(const Json& argument,
                          const std::function<void(std::string_view)>& visit) {
  const auto u = union_of(argument);
  if (!u) return;
  if (u->kind == "as_tensor") {
    if (const auto name = string_at(u->value, "name")) visit(*name);
    return;
  }
  if (u->kind == "as_optional_tensor") return for_each_tensor_name(u->value, visit);
  if (!u->kind.ends_with("tensors")) return;
  const auto list = value_as<JsonArray>(u->value);
  if (!list) return;
  for (const Json item : *list) {
    if (const auto name = string_at(item, "name")) {
      visit(*name);
    } else if (const auto inner = value_as<JsonArray>(item)) {  // as_nested_tensors
      for (const Json tensor : *inner) {
        if (const auto inner_name = string_at(tensor, "name")) visit(*inner_name);
      }
    } else {
      for_each_tensor_name(item, visit);  // as_optional_tensors
    }
  }
}

LastUses::LastUses(const JsonArray& nodes, const JsonArray& output_specs) {
  int index = 0;
  auto& last = last_.emplace();
  const auto visit = [&](std::string_view name) { last[name] = index; };
  for (const Json node : nodes) {
    if (const auto inputs = member_as<JsonArray>(node, "inputs")) {
      for (const Json input : *inputs) {
        if (const auto argument = member(input, "arg")) for_each_tensor_name(*argument, visit);
      }
    }
    ++index;
  }
  index = INT_MAX;
  for (const Json spec : output_specs) {
    const auto u = union_of(spec);
    if (!u || u->kind == "user_input_mutation") continue;
    if (const auto argument = member(u->value, "arg")) {
      for_each_tensor_name(*argument, visit);
      if (const auto name = string_at(*argument, "name")) visit(*name);
    }
  }
}

int LastUses::of(std::string_view name) const {
  if (!last_) return INT_MAX;
  const auto it = last_->find(name);
  return it == last_->end() ? -1 : it->second;
}

bool TensorTable::add(std::string_view name, Tensor tensor, Tensor* base) {
  tensor.name = name;
  if (base == nullptr) {
    tensor.storage = static_cast<int>(storages_.size());
    storages_.emplace_back();
    versions_.push_back(0);
  } else {
    tensor.storage = base->storage;
    tensor.origin = base->origin;
    tensor.source = base;
    tensor.view = tensor.value == nullptr ? nullptr : tensor.value->def();
  }
  tensor.version = versions_[static_cast<size_t>(tensor.storage)];
  tensors_.push_back(tensor);
  return add_name(name, tensors_.back());
}

bool TensorTable::add_name(std::string_view name, Tensor& tensor) {
  storages_[static_cast<size_t>(tensor.storage)].push_back({name, &tensor});
  return names_.emplace(name, &tensor).second;
}

Tensor* TensorTable::find(std::string_view name) {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : it->second;
}

bool TensorTable::is_current(const Tensor& tensor) const {
  return tensor.version == versions_[static_cast<size_t>(tensor.storage)];
}

bool TensorTable::can_refresh(const Tensor& tensor) const {
  const Tensor* t = &tensor;
  while (!is_current(*t)) {
    if (t->source == nullptr || t->view == nullptr || !can_replay(*t->view)) return false;
    t = t->source;
  }
  return true;
}

void TensorTable::refresh(Tensor& tensor) {
  if (is_current(tensor) || !can_refresh(tensor)) return;
  std::vector<Tensor*> stale;
  for (Tensor* t = &tensor; !is_current(*t); t = t->source)
    stale.push_back(t);
  for (auto it = stale.rbegin(); it != stale.rend(); ++it) {
    Tensor& t = **it;
    t.value = &replay_view(*t.view, *t.source->value).result();
    t.version = t.source->version;
  }
}

Status TensorTable::write(Tensor& tensor, Value& value, int index, const LastUses& uses) {
  const std::vector<Named>& sharing = storages_[static_cast<size_t>(tensor.storage)];
  if (tensor.origin != Origin::kNode && tensor.origin != Origin::kInput) {
    const std::string_view what = tensor.origin == Origin::kParameter ? "parameter"
                                  : tensor.origin == Origin::kBuffer  ? "buffer"
                                                                      : "constant";
    return error(Code::kUnsupportedFeature, "mutable {} \"{}\": the program changes it in place",
                 what, sharing.front().tensor->stored)
        .with_hint("call model.eval() before the export, or make the state an input and an output");
  }
  tensor.value = &value;
  tensor.version = ++versions_[static_cast<size_t>(tensor.storage)];
  for (Tensor* t = &tensor; t->source != nullptr && t->view != nullptr; t = t->source) {
    const bool is_known = t->source->version + 1 == tensor.version;
    Value* base = is_known ? write_through(*t->view, *t->source->value, *t->value) : nullptr;
    if (base == nullptr) break;
    t->source->value = base;
    t->source->version = tensor.version;
  }
  for (const auto& [name, other] : sharing) {
    if (can_refresh(*other) || uses.of(name) <= index) continue;
    return error(Code::kUnsupportedFeature,
                 "in-place on a view: it writes to \"{}\", whose memory \"{}\" shares, and that is "
                 "used later",
                 tensor.name, name)
        .with_hint(
            "write a new tensor instead (y = x + 1), or call run_decompositions() before "
            "saving");
  }
  return ok();
}

}  // namespace tosaic::aten::pt2
