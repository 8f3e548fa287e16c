// SPDX-License-Identifier: Apache-2.0
#include "numeric/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "aten/arithmetic.h"
#include "aten/integers.h"
#include "numeric/quadratic_table.h"

namespace tosaic::aten {

namespace {

numeric::AffineParams affine(const Quant& quant) {
  return {.scale = quant.scale(),
          .zero_point = quant.zero_point(),
          .qmin = static_cast<int32_t>(quant.qmin),
          .qmax = static_cast<int32_t>(quant.qmax)};
}

Value* table_i8(Builder& b, Value* x, const numeric::Int8Table& table) {
  const std::vector<int64_t> values(table.begin(), table.end());
  Value* entries =
      b.constant_ints(DType::kI8, {static_cast<int64_t>(numeric::kInt8TableSize)}, values);
  return b.emit(tosa::table, {x, entries});
}

/// Steps of the output by which a function of 16 bits may be off before another form is tried.
constexpr double kGoodSteps = 2;
/// ... and above which there is no form.
constexpr double kMostSteps = 16;

/// The greatest error of an int16 TABLE between its entries, in steps of the output.
double error_of(const numeric::Int16Table& table, const std::function<double(double)>& function,
                const Quant& in, const Quant& out) {
  double worst = 0;
  for (int64_t q = in.qmin; q <= in.qmax; q += 29) {  // all places between entries occur
    const double exact = std::clamp(function(static_cast<double>(q) * in.scale()) / out.scale(),
                                    static_cast<double>(out.qmin), static_cast<double>(out.qmax));
    const int32_t made = numeric::table_lookup_int16(static_cast<int16_t>(q), table);
    if (std::isfinite(exact)) {
      worst =
          std::max(worst, std::abs(std::ldexp(made, -numeric::kInt16TableFractionBits) - exact));
    }
  }
  return worst;
}

/// A parabola on each of 256 intervals, whose coefficients are looked up byte by byte.
Value* table_of_parabolas(Builder& b, Value* x, const numeric::QuadraticTable& table) {
  Integers in(b);
  const auto look_up = [&](Value* code, const auto& entries, int num_bytes) {
    return in.table(code, num_bytes, [&](int c) { return entries[static_cast<size_t>(c) + 128]; });
  };
  Value* high = b.rescale(x, DType::kI8, 1.0 / 256, 0, 0);
  Value* low = in.sub(b.rescale(x, DType::kI32, 1, 0, 0), b.rescale(high, DType::kI32, 256, 0, 0));
  Value* bend = in.mul(look_up(high, table.bend, 1), low, 0);
  Value* slope =
      in.add(look_up(high, table.slope, 2), b.rescale(bend, DType::kI32, table.bend_scale, 0, 0));
  Value* rise = b.rescale(in.mul(slope, low, 0), DType::kI32, table.slope_scale, 0, 0);
  Value* y = in.add(look_up(high, table.value, 3), rise);
  return b.rescale(y, DType::kI16, std::ldexp(1.0, -numeric::QuadraticTable::kFractionBits), 0, 0);
}

/// TABLE on int16 gives an int32 with 7 fraction bits, which a RESCALE takes off.
bool has_table_i16(Builder& b, Value* x) {
  const std::vector<int64_t> zeros(numeric::kInt16TableSize, 0);
  Value* const operands[] = {
      x, b.constant_ints(DType::kI16, {static_cast<int64_t>(zeros.size())}, zeros)};
  return b.legal(tosa::table, operands);
}
Value* table_i16(Builder& b, Value* x, const numeric::Int16Table& table) {
  const std::vector<int64_t> values(table.begin(), table.end());
  Value* entries =
      b.constant_ints(DType::kI16, {static_cast<int64_t>(numeric::kInt16TableSize)}, values);
  Value* wide = b.emit(tosa::table, {x, entries});
  return b.rescale(wide, DType::kI16, 1.0 / (1 << numeric::kInt16TableFractionBits), 0, 0);
}

/// A part of the codes, 2^bits of them from `first` on, with straight lines on 256 intervals.
struct Piece {
  static constexpr int kIntervals = 256;
  static constexpr int kLeastBits = 8;  ///< every code has an entry of its own then
  int64_t first = 0;
  int bits = 0;
  std::array<int16_t, kIntervals + 1> entries{};
  double error = 0;  ///< in steps of the output

  bool is_flat() const { return std::ranges::count(entries, entries[0]) == kIntervals + 1; }
};

/// `exact`: the output's code, not rounded, of an input's.
Piece make_piece(int64_t first, int bits, const std::function<double(int64_t)>& exact) {
  Piece piece{first, bits};
  const int64_t width = int64_t{1} << (bits - Piece::kLeastBits);  // of an interval
  for (int i = 0; i <= Piece::kIntervals; ++i) {
    piece.entries[static_cast<size_t>(i)] =
        static_cast<int16_t>(std::lround(exact(first + i * width)));
  }
  for (int i = 0; i < Piece::kIntervals; ++i) {
    const double begin = piece.entries[static_cast<size_t>(i)];
    const double rise = piece.entries[static_cast<size_t>(i) + 1] - begin;
    if (std::abs(rise) > std::numeric_limits<int16_t>::max()) piece.error = HUGE_VAL;
    for (int64_t l = 0; l < width; l += std::max<int64_t>(1, width / 8)) {
      const double made = begin + rise * static_cast<double>(l) / static_cast<double>(width);
      piece.error = std::max(piece.error, std::abs(made - exact(first + i * width + l)));
    }
  }
  return piece;
}

/// Cuts the piece with the greatest error in two, over and over: a steep function needs small
/// pieces where it is steep only. In the order of codes.
std::vector<Piece> make_pieces(const std::function<double(double)>& real, const Quant& in,
                               const Quant& out) {
  constexpr size_t kMostPieces = 12;
  const auto code = [&](int64_t q) {
    return real(static_cast<double>(q) * in.scale()) / out.scale();
  };
  // Where the function is not defined, it goes on as at the nearest code where it is: a jump at a
  // pole would take most of the pieces.
  int64_t first = in.qmin, last = in.qmax;
  while (first < last && std::isnan(code(first)))
    ++first;
  while (first < last && std::isnan(code(last)))
    --last;
  const std::function<double(int64_t)> exact = [&](int64_t q) {
    const double y = code(std::clamp(q, first, last));
    return std::isnan(y)
               ? 0
               : std::clamp(y, static_cast<double>(out.qmin), static_cast<double>(out.qmax));
  };
  std::vector<Piece> pieces{make_piece(-32768, 15, exact), make_piece(0, 15, exact)};
  while (pieces.size() < kMostPieces) {
    const auto worst = std::ranges::max_element(pieces, {}, &Piece::error);
    if (worst->error <= 1 || worst->bits == Piece::kLeastBits) break;
    const int bits = worst->bits - 1;
    const int64_t middle = worst->first + (int64_t{1} << bits);
    *worst = make_piece(worst->first, bits, exact);
    pieces.insert(worst + 1, make_piece(middle, bits, exact));
  }
  return pieces;
}

/// The sum of what each piece rises by up to x. The ends of a piece are codes, so that none begins
/// elsewhere than the one before it ended.
Value* table_of_pieces(Builder& b, Value* x, const std::vector<Piece>& pieces) {
  Integers in(b);
  Value* wide = b.rescale(x, DType::kI32, 1, 0, 0);
  Value* sum = nullptr;
  int64_t base = pieces[0].entries[0];
  for (const Piece& piece : pieces) {
    if (piece.is_flat()) continue;
    const int64_t half = int64_t{1} << (piece.bits - 1);
    Value* inside = in.at_most(in.at_least(in.add(wide, -piece.first - half), -half), half);
    // From -2^14 to 2^14, the 128th to the 384th entry.
    Value* place = b.rescale(inside, DType::kI16, std::ldexp(1.0, 15 - piece.bits), 0, 0);
    std::vector<int64_t> entries(numeric::kInt16TableSize, piece.entries.front());
    std::ranges::copy(piece.entries, entries.begin() + 128);
    std::fill(entries.begin() + 128 + Piece::kIntervals, entries.end(), piece.entries.back());
    Value* constants =
        b.constant_ints(DType::kI16, {static_cast<int64_t>(entries.size())}, entries);
    Value* y = b.emit(tosa::table, {place, constants});
    sum = sum == nullptr ? y : in.add(sum, y);
    base -= piece.entries[0];
  }
  sum = in.add(sum, base * (1 << numeric::kInt16TableFractionBits));
  return b.rescale(sum, DType::kI16, 1.0 / (1 << numeric::kInt16TableFractionBits), 0, 0);
}

/// An int16 TABLE where the target has one and it is good enough; else parabolas, or several TABLE.
Lowered lower_table_i16(const Call& call, Builder& b, const std::function<double(double)>& real) {
  Value* x = call.in(0);
  const Quant& in = *x->quant();
  const Quant& out = *call.out().quant;
  const numeric::Int16Table table = numeric::make_int16_table(real, affine(in), affine(out));
  const double error = has_table_i16(b, x) && numeric::all_slopes_fit(table)
                           ? error_of(table, real, in, out)
                           : std::numeric_limits<double>::infinity();
  if (error <= kGoodSteps) return table_i16(b, x, table);
  const auto parabolas = numeric::make_quadratic_table(real, affine(in), affine(out));
  if (parabolas.worst < error && parabolas.worst <= kMostSteps) {
    return clamp_to_range(b, table_of_parabolas(b, x, parabolas), call.out());
  }
  if (has_table_i16(b, x)) {
    const std::vector<Piece> pieces = make_pieces(real, in, out);
    const bool is_flat = std::ranges::all_of(pieces, &Piece::is_flat);
    if (!is_flat && std::ranges::max(pieces, {}, &Piece::error).error < error) {
      return clamp_to_range(b, table_of_pieces(b, x, pieces), call.out());
    }
  }
  if (std::isfinite(error)) return table_i16(b, x, table);
  return reject(Code::kRejectQuantParams,
                "{}: the function is too steep for tables of 16-bit values on {}",
                call.schema().full_name, b.target().display_name);
}

}  // namespace

Lowered lower_table(const Call& call, Builder& b, double (*function)(double, const Call&)) {
  Value* x = call.in(0);
  const Quant* in = x->quant();
  const Quant* out = call.out().quant;
  if (in == nullptr || out == nullptr || !in->per_tensor() || !out->per_tensor()) {
    return reject(Code::kRejectQuantParams,
                  "{}: a table needs input and output quantised per tensor",
                  call.schema().full_name);
  }
  if (x->dtype() != call.out().dtype) {
    return reject(Code::kRejectDtype, "{}: input is {}, output {}; a table needs equal types",
                  call.schema().full_name, dtype_name(x->dtype()), dtype_name(call.out().dtype));
  }
  const auto real = [&](double v) { return function(v, call); };
  if (x->dtype() == DType::kI8) {
    return table_i8(b, x, numeric::make_int8_table(real, affine(*in), affine(*out)));
  }
  if (x->dtype() != DType::kI16) {
    return reject(Code::kRejectDtype, "{}: no table for {}", call.schema().full_name,
                  dtype_name(x->dtype()));
  }
  return lower_table_i16(call, b, real);
}

}  // namespace tosaic::aten
