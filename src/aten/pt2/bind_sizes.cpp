// SPDX-License-Identifier: Apache-2.0
// Symbols of a program with dynamic_shapes get their values from the shapes that the user gives
// inputs. An axis may be a symbol, or an expression of one (torch.export's derived dimensions).
#include <algorithm>

#include "aten/pt2/importer.h"

namespace tosaic::aten::pt2 {
namespace {

/// Sizes that a symbol may have.
struct Range {
  int64_t min = 0;
  int64_t max = int64_t{1} << 48;
};

Range range_of(const Json& root, std::string_view symbol) {
  Range range;
  const auto entry = member(member(root, "range_constraints"), symbol);
  if (!entry) return range;
  range.min = std::max(range.min, member_as<int64_t>(*entry, "min_val").value_or(range.min));
  range.max = std::min(range.max, member_as<int64_t>(*entry, "max_val").value_or(range.max));
  return range;
}

/// The value of `symbol` that makes `expression` equal `size`, found by bisection: expressions of
/// sizes grow with their symbol. The nearest one when there is none.
Expected<int64_t> solve(std::string_view expression, std::string_view symbol, int64_t size,
                        Range range) {
  SymbolValues values;
  const auto is_below = [&](int64_t value) -> bool {
    values[symbol] = value;
    const auto result = evaluate_size(expression, values);
    return result && *result && **result < size;
  };
  // An overflow counts as too large.
  values[symbol] = range.min;
  TOSAIC_TRY(const std::optional<int64_t> first, evaluate_size(expression, values));
  if (!first) return range.min;
  while (range.min < range.max) {
    const int64_t middle = range.min + (range.max - range.min) / 2;
    if (is_below(middle)) {
      range.min = middle + 1;
    } else {
      range.max = middle;
    }
  }
  return range.min;
}

/// "x=2,3,20,16": the shape with which the program was exported.
std::string example_of(std::string_view name, const JsonArray& sizes) {
  std::vector<std::string> items;
  for (const Json size : sizes) {
    const auto u = union_of(size);
    std::optional<int64_t> number;
    if (u && u->kind == "as_int") number = value_as<int64_t>(u->value);
    if (u && u->kind == "as_expr") {
      if (const auto hint = member(u->value, "hint")) number = member_as<int64_t>(*hint, "as_int");
    }
    items.push_back(number ? fmt::format("{}", *number) : "?");
  }
  return fmt::format("{}={}", name, fmt::join(items, ","));
}

class SizeBinder {
 public:
  SizeBinder(const Json& root, Symbols& symbols) : root_(root), symbols_(symbols) {}

  /// One input: its stated sizes, and those that the user gives.
  Status bind(std::string_view name, const JsonArray& stated, std::span<const int64_t> given) {
    name_ = name;
    if (stated.size() != given.size()) {
      return error(Code::kDynamicShape, "--shape {}: {} sizes, the input has {} axes", name,
                   given.size(), stated.size())
          .with_hint("the program was exported with " + example_of(name, stated));
    }
    size_t axis = 0;
    for (const Json size : stated) {
      axis_ = axis;
      TOSAIC_CHECK_OK(bind_axis(size, given[axis++]));
    }
    return ok();
  }

 private:
  template <typename... Args>
  Diagnostic refuse(fmt::format_string<Args...> format, Args&&... args) const {
    return error(Code::kDynamicShape, "--shape {}: axis {}: {}", name_, axis_,
                 fmt::format(format, std::forward<Args>(args)...));
  }

  Status bind_axis(const Json& stated, int64_t size) {
    const auto u = union_of(stated);
    if (size < 1) return refuse("the size {} is below 1", size);
    if (u && u->kind == "as_int") {
      const auto fixed = value_as<int64_t>(u->value);
      if (fixed && *fixed != size) {
        return refuse("the size {} was given, the program has {}", size, *fixed);
      }
      return ok();
    }
    const auto expression =
        u && u->kind == "as_expr" ? string_at(u->value, "expr_str") : std::nullopt;
    if (!expression) return ok();  // reading the input says what is wrong with it
    std::vector<std::string_view> free = symbols_of(*expression);
    std::erase_if(free, [&](std::string_view s) { return symbols_.values().contains(s); });
    if (free.size() > 1) return ok();  // other axes decide them; checked when all are known
    if (free.size() == 1) {
      const Range range = range_of(root_, free[0]);
      TOSAIC_TRY(const int64_t value, solve(*expression, free[0], size, range));
      TOSAIC_CHECK_OK(check_range(*expression, free[0], size, range));
      symbols_.bind(free[0], value);
    }
    TOSAIC_TRY(const int64_t result, symbols_.size_of(*expression));
    if (result != size) {
      return refuse("the size {} was given; next to it the program, and the other sizes, allow {}",
                    size, result);
    }
    return ok();
  }

  Status check_range(std::string_view expression, std::string_view symbol, int64_t size,
                     Range range) const {
    const auto at = [&](int64_t value) -> std::optional<int64_t> {
      const auto result = evaluate_size(expression, {{symbol, value}});
      return result ? *result : std::nullopt;
    };
    const std::optional<int64_t> min = at(range.min);
    const std::optional<int64_t> max = at(range.max);
    if (min && size < *min) return refuse("the size {} is below {}, the least", size, *min);
    if (max && size > *max) return refuse("the size {} is above {}, the greatest", size, *max);
    return ok();
  }

  const Json& root_;
  Symbols& symbols_;
  std::string_view name_;
  size_t axis_ = 0;
};

}  // namespace

Status Importer::bind_sizes(const JsonArray& specs) {
  if (sizes_.empty()) return ok();
  std::vector<std::string_view> names;
  for (const Json spec : specs) {
    const auto u = union_of(spec);
    const auto arg =
        u && u->kind == "user_input" ? union_of(member(u->value, "arg")) : std::nullopt;
    const auto name =
        arg && arg->kind == "as_tensor" ? string_at(arg->value, "name") : std::nullopt;
    if (name) names.push_back(*name);
  }
  SizeBinder binder(root_, symbols_);
  for (const InputSizes& given : sizes_) {
    const auto it = std::ranges::find(names, given.input);
    const auto meta = metas_.find(given.input);
    if (it == names.end() || meta == metas_.end()) {
      Diagnostic d = error(Code::kOption, "--shape {}: there is no such input; there are {}",
                           given.input, fmt::join(names, ", "));
      const std::string_view near = nearest_name(given.input, names);
      if (!near.empty()) d.hint = fmt::format("did you mean {}", near);
      return d;
    }
    const auto stated = member_as<JsonArray>(meta->second, "sizes");
    if (stated) TOSAIC_CHECK_OK(binder.bind(*it, *stated, given.sizes));
  }
  // An axis whose expression has two symbols is checked now that more of them are known.
  for (const InputSizes& given : sizes_) {
    const auto stated = member_as<JsonArray>(metas_.at(given.input), "sizes");
    if (stated) TOSAIC_CHECK_OK(binder.bind(given.input, *stated, given.sizes));
  }
  return ok();
}

}  // namespace tosaic::aten::pt2
