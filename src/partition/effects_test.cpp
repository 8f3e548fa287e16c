// SPDX-License-Identifier: Apache-2.0
// Partitions keep reads and writes of state outside, and in their order.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "target/targets.h"

namespace tosaic {
namespace {

std::string outlined(std::string_view text) {
  auto module = parse_module(text, "test.tir");
  if (!module) return render(module.error());
  if (const Status s = verify(**module); !s) return render(s.error());
  Graph& graph = *(*module)->main();
  const auto target = find_target("tosa-fp");
  if (!target) return render(target.error());
  const auto placements = place(graph, *target);
  for (const Placement& p : placements) {
    if (p.node->op().dialect == Dialect::kTosa && (p.on_target || !p.reason)) return "taken";
  }
  if (const Status s = outline(graph, placements); !s) return render(s.error());
  if (const Status s = verify(**module); !s) return render(s.error());
  return print(graph);
}

TEST(PartitionsOfStatefulPrograms, AWriteParts) {
  EXPECT_EQ(outlined(R"(graph @main(%x: f32[1,4]) {
  tosa.variable(none) {name = "v", var_shape = [1, 4], type = f32}
  %a: f32[1,4] = aten.relu.default(%x)
  tosa.variable_write(%a) {name = "v"}
  %r: f32[1,4] = tosa.variable_read() {name = "v"}
  %b: f32[1,4] = aten.sigmoid.default(%r)
  return %b
}
)"),
            R"(mixed graph @main(%x: f32[1,4]) {
  tosa.variable(none) {name = "v", var_shape = [1, 4], type = f32}
  %a: f32[1,4] = call(%x) {callee = @part0}
  tosa.variable_write(%a) {name = "v"}
  %r: f32[1,4] = tosa.variable_read() {name = "v"}
  %b: f32[1,4] = call(%r) {callee = @part1}
  return %b
}
)");
}

TEST(PartitionsOfStatefulPrograms, ReadsBeforeAWriteDoNot) {
  EXPECT_EQ(outlined(R"(graph @main(%x: f32[1,4]) {
  tosa.variable(none) {name = "v", var_shape = [1, 4], type = f32}
  %r: f32[1,4] = tosa.variable_read() {name = "v"}
  %a: f32[1,4] = aten.add.Tensor(%x, %r)
  tosa.variable_write(%a) {name = "v"}
  %b: f32[1,4] = aten.sigmoid.default(%a)
  return %b
}
)"),
            R"(mixed graph @main(%x: f32[1,4]) {
  tosa.variable(none) {name = "v", var_shape = [1, 4], type = f32}
  %r: f32[1,4] = tosa.variable_read() {name = "v"}
  %b: f32[1,4], %a: f32[1,4] = call(%x, %r) {callee = @part0}
  tosa.variable_write(%a) {name = "v"}
  return %b
}
)");
}

}  // namespace
}  // namespace tosaic
