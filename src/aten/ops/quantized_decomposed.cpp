// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Where a program of PT2E goes from float to quantised values and back. quant/fold_qdq folds these
// nodes into types; those that stay are borders, which ExecuTorch's quantised kernels compute.
// requantise is Tosaic's own: a quantised value under other parameters.
//
// Targets with both profiles (the host's reference) compute the per-tensor ones in TOSA.

namespace tosaic::aten {
namespace {

/// limit(x / scale + zero point), which CAST rounds to the nearest even.
Lowered lower_quantize(const Call& n, Builder& b) {
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  Value* x = n.in(0);
  const Quant& q = *n.out().quant;
  const int rank = x->shape().rank();
  Value* y = b.mul(x, b.scalar_float(DType::kF32, 1 / q.scale(), rank));
  y = b.emit(tosa::add, {y, b.scalar_float(DType::kF32, q.zero_point(), rank)});
  y = b.clamp_float(y, static_cast<double>(q.qmin), static_cast<double>(q.qmax));
  return b.cast(y, n.out().dtype);
}

Lowered lower_dequantize(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  const Quant& q = *x->quant();
  const int rank = x->shape().rank();
  Value* y = b.cast(x, DType::kF32);
  y = b.emit(tosa::sub, {y, b.scalar_float(DType::kF32, q.zero_point(), rank)});
  return b.mul(y, b.scalar_float(DType::kF32, q.scale(), rank));
}

/// The form with numbers, where the tensors of parameters are constants.
Lowered call_with_numbers(const Call& n, Builder& b, std::string_view full_name) {
  const Value* scale = n.tensor("scale");
  const Value* zero_point = n.tensor("zero_point");
  for (const Value* v : {scale, zero_point}) {
    if (v != nullptr && v->is_constant() && v->shape().num_elements() == 1) continue;
    return reject(Code::kRejectNotConstant, "{}: scale and zero point must be constant numbers",
                  n.schema().full_name);
  }
  if (!is_float(scale->dtype()) || !is_integer(zero_point->dtype())) {
    return reject(Code::kRejectDtype, "{}: a scale of {} and a zero point of {}",
                  n.schema().full_name, dtype_name(scale->dtype()),
                  dtype_name(zero_point->dtype()));
  }
  return b.call(full_name, {n.in(0)}, n.out(),
                {{"scale", Attr::real(float_values(*scale->constant())[0])},
                 {"zero_point", Attr::integer(int_values(*zero_point->constant())[0])},
                 {"quant_min", n.arg("quant_min")},
                 {"quant_max", n.arg("quant_max")},
                 {"dtype", n.arg("dtype")}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(quantize_per_tensor) = {
    .schemas = schemas("quantized_decomposed::quantize_per_tensor(Tensor input, float scale, "
                       "int zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor"),
    .doc = "Float to quantised with one scale and zero point: a border.",
    .traits = Trait::kQuantize,
    .lower = lower_quantize,
    .cpu =
        "quantized_decomposed::quantize_per_tensor.out(Tensor input, float scale, "
        "int zero_point, int quant_min, int quant_max, ScalarType dtype, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(quantize_per_tensor_tensor) = {
    .schemas = schemas("quantized_decomposed::quantize_per_tensor.tensor(Tensor input, "
                       "Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
                       "ScalarType dtype) -> Tensor"),
    .doc = "quantize_per_tensor whose parameters are tensors.",
    .traits = Trait::kQuantize | Trait::kAlias,
    .lower =
        [](const Call& n, Builder& b) {
          return call_with_numbers(n, b, "quantized_decomposed.quantize_per_tensor.default");
        },
};

TOSAIC_ATEN_OP(quantize_per_channel) = {
    .schemas = schemas("quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, "
                       "Tensor zero_points, int axis, int quant_min, int quant_max, "
                       "ScalarType dtype) -> Tensor"),
    .doc = "Float to quantised with a scale and zero point per index of an axis: weights.",
    .traits = Trait::kQuantize,
    .cpu =
        "quantized_decomposed::quantize_per_channel.out(Tensor input, Tensor scales, "
        "Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(dequantize_per_tensor) = {
    .schemas = schemas("quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, "
                       "int zero_point, int quant_min, int quant_max, ScalarType dtype, *, "
                       "ScalarType? out_dtype=None) -> Tensor"),
    .doc = "Quantised to float with one scale and zero point: a border.",
    .traits = Trait::kDequantize,
    .lower = lower_dequantize,
    .cpu =
        "quantized_decomposed::dequantize_per_tensor.out(Tensor input, float scale, "
        "int zero_point, int quant_min, int quant_max, ScalarType dtype, *, "
        "ScalarType? out_dtype=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(dequantize_per_tensor_tensor) = {
    .schemas = schemas("quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, "
                       "Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
                       "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"),
    .doc = "dequantize_per_tensor whose parameters are tensors.",
    .traits = Trait::kDequantize | Trait::kAlias,
    .lower =
        [](const Call& n, Builder& b) {
          return call_with_numbers(n, b, "quantized_decomposed.dequantize_per_tensor.default");
        },
};

TOSAIC_ATEN_OP(dequantize_per_channel) = {
    .schemas = schemas("quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, "
                       "Tensor? zero_points, int axis, int quant_min, int quant_max, "
                       "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"),
    .doc = "Quantised to float with a scale and zero point per index of an axis: weights, biases.",
    .traits = Trait::kDequantize,
    .cpu =
        "quantized_decomposed::dequantize_per_channel.out(Tensor input, Tensor scales, "
        "Tensor? zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, "
        "ScalarType? out_dtype=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(requantize) = {
    .schemas = schemas("tosaic::requantize(Tensor self) -> Tensor"),
    .doc = "A quantised value under other parameters (dequantize, then quantize): RESCALE.",
    .quant = {own(0), own(out(0))},
    .lower = [](const Call& n, Builder& b) -> Lowered {
      if (auto r = check_activation(n, n.in(0)->type(), "the input")) return *r;
      if (auto r = check_activation(n, n.out(), "the output")) return *r;
      return requantise(b, n.in(0), n.out());
    },
};
