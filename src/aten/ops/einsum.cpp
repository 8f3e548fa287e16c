// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>

#include "aten/calls.h"

// Einstein's sums, "bij,bjk->bik": operands are contracted from the left, two at a time, each pair
// as one product of matrices between views, or as mul where no label is summed.

namespace tosaic::aten {
namespace {

/// An operand with one letter per axis. The axes of "..." are called by digits, '9' for the last.
struct Term {
  Value* value = nullptr;
  std::string labels;

  int64_t size(char label) const { return value->shape()[static_cast<int>(labels.find(label))]; }
  bool has(char label) const { return labels.find(label) != std::string::npos; }
};

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
  bool has_output = false;
};

Equation parse(std::string_view text) {
  Equation e;
  e.inputs.emplace_back();
  std::string* side = &e.inputs.back();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 2) == "->") {
      e.has_output = true;
      side = &e.output;
      ++i;
    } else if (text[i] == ',' && !e.has_output) {
      e.inputs.emplace_back();
      side = &e.inputs.back();
    } else {
      side->push_back(text[i]);
    }
  }
  return e;
}

/// Replaces "..." by the digits of `count` axes; false for anything but letters beside it.
bool name_axes(std::string& labels, int count) {
  if (const size_t at = labels.find("..."); at != std::string::npos) {
    std::string digits;
    for (int i = count; i-- > 0;)
      digits.push_back(static_cast<char>('9' - i));
    labels.replace(at, 3, digits);
  }
  return std::ranges::all_of(labels,
                             [](char c) { return std::isalnum(static_cast<unsigned char>(c)); });
}

class Contraction {
 public:
  Contraction(const Call& n, Builder& b) : n_(n), b_(b) {}
  Lowered run();

 private:
  std::optional<Reject> read();
  Reject refuse() const {
    return reject(Code::kRejectAttribute, "{}: \"{}\" of {} operands", n_.schema().full_name,
                  n_.s("equation"), n_.operands().size());
  }
  std::string kept(size_t from) const;
  void diagonal(Term& term);
  void sum_out(Term& term, const std::string& kept);
  Term product(const Term& x, const Term& y, const std::string& kept);
  Value* arranged(const Term& term, const std::string& order, const Shape& shape);
  TensorType type(const Shape& shape) const { return {n_.out().dtype, shape, nullptr}; }

  const Call& n_;
  Builder& b_;
  std::vector<Term> terms_;
  std::string output_;
};

std::optional<Reject> Contraction::read() {
  Equation e = parse(n_.s("equation"));
  const auto operands = n_.operands();
  if (operands.empty() || e.inputs.size() != operands.size()) return refuse();
  int most = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string given = e.inputs[i];
    const bool has_dots = given.find("...") != std::string::npos;
    const int named = static_cast<int>(given.size()) - (has_dots ? 3 : 0);
    const int rest = operands[i]->shape().rank() - named;
    if (rest < 0 || (!has_dots && rest != 0) || !name_axes(e.inputs[i], rest) ||
        !operands[i]->shape().is_static()) {
      return refuse();
    }
    most = std::max(most, has_dots ? rest : 0);
    terms_.push_back({operands[i], e.inputs[i]});
  }
  if (e.has_output) {
    if (!name_axes(e.output, most)) return refuse();
    output_ = e.output;
  } else {  // the axes of "...", then letters that occur once
    std::string all;
    for (const Term& t : terms_)
      all += t.labels;
    for (char c = '0'; c <= 'z'; ++c) {
      const auto count = std::ranges::count(all, c);
      if (count == 1 || (count > 1 && c <= '9')) output_.push_back(c);
    }
  }
  for (char c : output_) {
    const bool known = std::ranges::any_of(terms_, [c](const Term& t) { return t.has(c); });
    if (!known || std::ranges::count(output_, c) != 1) return refuse();
  }
  return std::nullopt;
}

/// The labels of the result and of the operands from `from` on.
std::string Contraction::kept(size_t from) const {
  std::string labels = output_;
  for (size_t i = from; i < terms_.size(); ++i)
    labels += terms_[i].labels;
  return labels;
}

/// Axes with one label become one, at the end.
void Contraction::diagonal(Term& term) {
  for (size_t i = 0; i < term.labels.size();) {
    const size_t other = term.labels.find(term.labels[i], i + 1);
    if (other == std::string::npos) {
      ++i;
      continue;
    }
    const char label = term.labels[i];
    const int64_t size = term.value->shape()[static_cast<int>(i)];
    term.labels.erase(other, 1);
    term.labels.erase(i, 1);
    std::vector<int64_t> sizes;
    for (size_t axis = 0; axis < term.labels.size() + 2; ++axis) {
      if (axis != i && axis != other) sizes.push_back(term.value->shape()[static_cast<int>(axis)]);
    }
    sizes.push_back(size);
    term.labels.push_back(label);
    term.value =
        b_.call("aten.diagonal.default", {term.value}, {term.value->dtype(), Shape(sizes), nullptr},
                {{"dim1", Attr::integer(static_cast<int64_t>(i))},
                 {"dim2", Attr::integer(static_cast<int64_t>(other))}});
    i = 0;
  }
}

/// Sums over labels that are not kept.
void Contraction::sum_out(Term& term, const std::string& kept) {
  std::vector<int64_t> axes;
  std::vector<int64_t> sizes;
  std::string left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (kept.find(term.labels[i]) != std::string::npos) {
      left.push_back(term.labels[i]);
      sizes.push_back(term.value->shape()[static_cast<int>(i)]);
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return;
  term.value = b_.call("aten.sum.dim_IntList", {term.value}, type(Shape(sizes)),
                       {{"dim", Attr::ints(axes)}, {"keepdim", Attr::boolean(false)}});
  term.labels = left;
}

/// The axes in another order, under other sizes.
Value* Contraction::arranged(const Term& term, const std::string& order, const Shape& shape) {
  std::vector<int64_t> perm;
  for (char label : order)
    perm.push_back(static_cast<int64_t>(term.labels.find(label)));
  Value* x = term.value;
  if (!std::ranges::is_sorted(perm)) x = call_permute(b_, x, perm);
  return call_view(b_, x, shape);
}

Term Contraction::product(const Term& x, const Term& y, const std::string& kept) {
  std::string batch;
  std::string summed;
  std::string of_x;
  std::string of_y;
  for (char c : x.labels)
    (!y.has(c) ? of_x : kept.find(c) != std::string::npos ? batch : summed).push_back(c);
  for (char c : y.labels) {
    if (!x.has(c)) of_y.push_back(c);
  }
  std::vector<int64_t> sizes;
  const auto count = [&](const Term& t, const std::string& labels, bool is_result) {
    int64_t product = 1;
    for (char c : labels) {
      product *= t.size(c);
      if (is_result) sizes.push_back(t.size(c));
    }
    return product;
  };
  const int64_t n = count(x, batch, true);
  const int64_t rows = count(x, of_x, true);
  const int64_t columns = count(y, of_y, true);
  const int64_t depth = count(x, summed, false);
  const Shape flat{n, rows, columns};
  Value* left = arranged(x, batch + of_x + summed, {n, rows, depth});
  Value* right = arranged(y, batch + summed + of_y, {n, depth, columns});
  Value* z =
      b_.call(summed.empty() ? "aten.mul.Tensor" : "aten.bmm.default", {left, right}, type(flat));
  return {call_view(b_, z, Shape(sizes)), batch + of_x + of_y};
}

Lowered Contraction::run() {
  if (auto r = read()) return *r;
  for (const Term& t : terms_) {
    for (const Term& u : terms_) {
      for (size_t i = 0; i < t.labels.size(); ++i) {
        const char c = t.labels[i];
        if (u.has(c) && u.size(c) != t.value->shape()[static_cast<int>(i)]) return refuse();
      }
    }
    if (t.value->dtype() != n_.out().dtype || t.value->shape().num_elements() == 0) {
      return reject(Code::kRejectDtype, "{}: {} to {}", n_.schema().full_name,
                    to_string(t.value->type()), dtype_name(n_.out().dtype));
    }
  }
  for (Term& t : terms_)
    diagonal(t);
  Term made = terms_[0];
  sum_out(made, kept(1));
  for (size_t i = 1; i < terms_.size(); ++i) {
    // What only one operand has is summed before the product.
    Term term = terms_[i];
    sum_out(term, kept(i + 1) + made.labels);
    if (made.labels.size() + term.labels.size() > kMaxRank) return refuse();
    made = product(made, term, kept(i + 1));
  }
  return arranged(made, output_, n_.out().shape);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(einsum) = {
    .schemas =
        schemas("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor"),
    .doc = "Products summed over the letters that the result lacks: permute, sum and bmm or mul.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return Contraction(n, b).run(); },
};
