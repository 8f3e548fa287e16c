// SPDX-License-Identifier: Apache-2.0
#include "driver/io.h"

#include <algorithm>
#include <cctype>

namespace tosaic {
namespace {

constexpr DType kIoTypes[] = {DType::kF32, DType::kI8, DType::kU8, DType::kI16};

/// What the program is quantised in where `dtype` is asked for: uint8 is made from int8.
DType stored_as(DType dtype) {
  return dtype == DType::kU8 ? DType::kI8 : dtype;
}

class IoCheck {
 public:
  IoCheck(DType dtype, DiagnosticSink& sink) : dtype_(dtype), sink_(sink) {}

  Status check(const Value& v, std::string_view side, size_t index) {
    const std::string name = v.name().empty() ? fmt::format("{} {}", side, index)
                                              : fmt::format("{} \"{}\"", side, v.name());
    if (is_float(v.dtype())) {
      Diagnostic d = error(Code::kWarnIoFloat, "{} stays {}", name, torch_name(v.dtype()));
      d.severity = Severity::kWarning;
      d.hint =
          "nothing quantises it, in one way, next to the border; tosaic explain shows which "
          "nodes compute in float";
      sink_.add(std::move(d));
      return ok();
    }
    if (v.quant() == nullptr || v.dtype() == stored_as(dtype_)) return ok();
    Diagnostic d = error(Code::kOption, "--io-dtype {}: {} is quantised as {}", torch_name(dtype_),
                         name, torch_name(v.dtype()));
    d.hint = v.dtype() == DType::kI16 ? "give --io-dtype int16, or quantise to int8"
                                      : fmt::format("give --io-dtype {}", torch_name(v.dtype()));
    return d;
  }

 private:
  DType dtype_;
  DiagnosticSink& sink_;
};

std::string macro_name(std::string_view text) {
  std::string name;
  for (char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "M" + name;
  return name;
}

/// A name as the content of a C string.
std::string c_text(std::string_view text) {
  std::string quoted;
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
  }
  return quoted;
}

std::string c_type(std::string_view dtype) {
  if (dtype == "float32") return "float";
  if (dtype == "bool") return "bool";
  return std::string(dtype) + "_t";
}

void append_side(std::string& text, const std::string& prefix, std::string_view side,
                 const std::vector<IoReport>& list) {
  text += fmt::format("\n#define {}_NUM_{}S {}\n", prefix, side, list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const IoReport& io = list[i];
    const std::string stem = fmt::format("{}_{}_{}", prefix, side, i);
    int64_t elements = 1;
    for (int64_t size : io.shape)
      elements *= size;
    text += fmt::format("\n#define {}_NAME \"{}\"\n", stem, c_text(io.name));
    text += fmt::format("#define {}_TYPE {}\n", stem, c_type(io.dtype));
    text += fmt::format("#define {}_RANK {}\n", stem, io.shape.size());
    text += fmt::format("#define {}_SHAPE {{{}}} /* {} */\n", stem, fmt::join(io.shape, ", "),
                        io.layout);
    text += fmt::format("#define {}_NUM_ELEMENTS {}\n", stem, elements);
    if (!io.scale) continue;
    text += fmt::format("#define {}_SCALE {:.9e}f\n", stem, *io.scale);
    text += fmt::format("#define {}_ZERO_POINT ({})\n", stem, *io.zero_point);
  }
}

}  // namespace

Expected<DType> parse_io_dtype(std::string_view text) {
  for (DType dtype : kIoTypes) {
    if (torch_name(dtype) == text) return dtype;
  }
  return error(Code::kOption, "--io-dtype {}: float32, int8, uint8 or int16 are taken", text);
}

Status check_io_dtype(const Graph& main, DType dtype, DiagnosticSink& sink) {
  if (dtype == DType::kUnknown || dtype == DType::kF32) return ok();
  IoCheck check(dtype, sink);
  for (size_t i = 0; i < main.inputs().size(); ++i) {
    TOSAIC_CHECK_OK(check.check(*main.inputs()[i], "input", i));
  }
  for (int i = 0; i < main.num_outputs(); ++i) {
    if (main.output(i) == nullptr) continue;
    TOSAIC_CHECK_OK(check.check(*main.output(i), "output", static_cast<size_t>(i)));
  }
  return ok();
}

std::string io_header(std::string_view program, const CompileReport& report) {
  std::string_view stem = program.substr(program.rfind('/') + 1);
  const std::string file(stem);
  stem = stem.substr(0, stem.rfind('.'));
  const std::string prefix = macro_name(stem);
  std::string text = fmt::format(
      "/* Inputs and outputs of {}, by tosaic: real value = SCALE * (stored - ZERO_POINT). */\n"
      "#ifndef {}_IO_H\n#define {}_IO_H\n\n#include <stdbool.h>\n#include <stdint.h>\n",
      file.find("*/") == std::string::npos ? file : "a program", prefix, prefix);
  append_side(text, prefix, "INPUT", report.inputs);
  append_side(text, prefix, "OUTPUT", report.outputs);
  text += fmt::format("\n#endif /* {}_IO_H */\n", prefix);
  return text;
}

}  // namespace tosaic
