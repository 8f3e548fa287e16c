// SPDX-License-Identifier: Apache-2.0
// M26: files whose containers are sound and whose operators break a rule of the specification. They
// are written from text IR that nobody has verified.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "tosa/flatbuffer.h"
#include "tosa/reference.h"

namespace tosaic::tosa {
namespace {

using Bytes = std::vector<std::byte>;

Bytes written(const std::string& text) {
  auto module = parse_module(text, "test.tir");
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return {};
  }
  auto bytes = write_flatbuffer(*(*module)->main(), {});
  if (!bytes) {
    ADD_FAILURE() << render(bytes.error());
    return {};
  }
  return *std::move(bytes);
}

std::string refusal(const std::string& text) {
  auto module = read_flatbuffer(written(text), nullptr, "net.tosa");
  if (module) return "";
  const Diagnostic& d = module.error();
  EXPECT_EQ(d.where.file, "net.tosa");
  return fmt::format("{} {}: {}", code_id(d.code), d.where.scope, d.message);
}

struct Breach {
  std::string from;  ///< of a sound graph …
  std::string to;    ///< … is replaced by this
  std::string code;
  std::vector<std::string> words;  ///< of the message: what was found, what is allowed
};

/// Each breach alone is refused, with the number of the operator; the graph itself is sound.
void check(const std::string& text, const std::string& scope, const std::vector<Breach>& breaches) {
  EXPECT_EQ(refusal(text), "");
  for (const Breach& breach : breaches) {
    std::string broken = text;
    const size_t at = broken.find(breach.from);
    ASSERT_NE(at, std::string::npos) << breach.from;
    broken.replace(at, breach.from.size(), breach.to);
    SCOPED_TRACE(breach.to);
    const std::string message = refusal(broken);
    EXPECT_TRUE(message.starts_with(fmt::format("{} {}: ", breach.code, scope))) << message;
    for (const std::string& word : breach.words) {
      EXPECT_NE(message.find(word), std::string::npos) << message;
    }
  }
}

TEST(BadTosaFile, Resize) {
  check(R"(tosa graph @main(%x: i8[1,4,4,2]) {
  %scale = const shape[4] [4, 2, 4, 2]
  %offset = const shape[2] [0, 0]
  %border = const shape[2] [2, 2]
  %y: i8[1,8,8,2] = tosa.resize(%x, %scale, %offset, %border) {mode = "nearest"}
  return %y
}
)",
        "operator 3",
        {{"[4, 2, 4, 2]", "[0, 2, 4, 2]", "V0010", {"scale 0/2", "positive"}},
         {"[4, 2, 4, 2]", "[4, 0, 4, 2]", "V0010", {"scale 4/0", "positive"}},
         {"[4, 2, 4, 2]", "[-4, 2, 4, 2]", "V0010", {"scale -4/2", "positive"}},
         {"[4, 2, 4, 2]", "[4, 2, 4, -9223372036854775808]", "V0010", {"positive"}},
         {"[4, 2, 4, 2]", "[4, 9223372036854775807, 4, 2]", "V0010", {"16"}},
         {"[4, 2, 4, 2]", "[2049, 2, 4, 2]", "V0010", {"2048"}},
         {"[4, 2, 4, 2]", "[2048, 1, 4, 2]", "V0009", {"256"}},
         {"[0, 0]", "[0, 64]", "V0010", {"offset"}},
         {"[0, 0]", "[9223372036854775807, 0]", "V0010", {"offset"}},
         {"[2, 2]\n  %y", "[-9223372036854775808, 2]\n  %y", "V0010", {"border"}},
         {"[2, 2]\n  %y", "[1, 2]\n  %y", "V0010", {"multiple of the denominator"}},
         {"shape[4] [4, 2, 4, 2]", "shape[3] [4, 2, 4]", "V0007", {"3", "4"}},
         {"i8[1,8,8,2]", "i8[1,8,7,2]", "V0005", {"[1,8,7,2]", "[1,8,8,2]"}}});
}

TEST(BadTosaFile, Pad) {
  check(R"(tosa graph @main(%x: i8[2,3]) {
  %p = const shape[4] [0, 1, 2, 0]
  %v = const i8[1] [0]
  %y: i8[3,5] = tosa.pad(%x, %p, %v)
  return %y
}
)",
        "operator 2",
        {{"[0, 1, 2, 0]", "[0, 1, -2, 0]", "V0010", {"-2", "from 0"}},
         {"[0, 1, 2, 0]", "[0, 9223372036854775807, 2, 0]", "V0010", {"2147483647"}},
         {"shape[4] [0, 1, 2, 0]", "shape[3] [0, 1, 2]", "V0007", {"3 entries", "rank 2"}},
         {"i8[1] [0]", "i8[2] [0, 0]", "V0007", {"[1]"}}});
}

TEST(BadTosaFile, Transpose) {
  check(R"(tosa graph @main(%x: i8[1,2,3,4]) {
  %y: i8[1,3,4,2] = tosa.transpose(%x) {perms = [0, 2, 3, 1]}
  return %y
}
)",
        "operator 0",
        {{"[0, 2, 3, 1]", "[0, 0, 1, 2]", "V0010", {"[0, 0, 1, 2]", "permutation"}},
         {"[0, 2, 3, 1]", "[0, 2, 3, 4]", "V0010", {"permutation"}},
         {"[0, 2, 3, 1]", "[0, 2, 3, -1]", "V0010", {"permutation"}},
         {"[0, 2, 3, 1]", "[0, 2, 1]", "V0010", {"permutation"}}});
}

TEST(BadTosaFile, Concat) {
  check(R"(tosa graph @main(%x: i8[2,3], %z: i8[2,4]) {
  %y: i8[2,7] = tosa.concat(%x, %z) {axis = 1}
  return %y
}
)",
        "operator 0",
        {{"axis = 1", "axis = 2", "V0010", {"2"}},
         {"axis = 1", "axis = -1", "V0010", {"-1"}},
         {"axis = 1", "axis = 2147483647", "V0010", {}},
         {"axis = 1", "axis = 0", "V0007", {"differ"}}});
}

TEST(BadTosaFile, Table) {
  const std::string table = fmt::format("i8[256] [{}]", fmt::join(std::vector<int>(256, 1), ", "));
  const std::string less = fmt::format("i8[255] [{}]", fmt::join(std::vector<int>(255, 1), ", "));
  check(fmt::format("tosa graph @main(%x: i8[4]) {{\n  %t = const {}\n"
                    "  %y: i8[4] = tosa.table(%x, %t)\n  return %y\n}}\n",
                    table),
        "operator 1", {{table, less, "V0010", {"[255]", "[256]"}}});
}

TEST(BadTosaFile, Convolution) {
  check(R"(tosa graph @main(%x: i8[1,4,4,3]) {
  %w = const i8[2,1,1,3] [1, -2, 3, 4, 5, -127]
  %b = const i32[2] [100, -70]
  %xzp = const i8[1] [3]
  %wzp = const i8[1] [0]
  %y: i32[1,4,4,2] = tosa.conv2d(%x, %w, %b, %xzp, %wzp) {pad = [0, 0, 0, 0], stride = [1, 1], dilation = [1, 1], local_bound = false, acc_type = i32}
  return %y
}
)",
        "operator 4",
        {{"i8[2,1,1,3] [1, -2, 3, 4, 5, -127]", "i8[2,1,1,2] [1, -2, 3, 4]", "V0007", {"2", "3"}},
         {"i32[2] [100, -70]", "i32[3] [100, -70, 0]", "V0010", {"[3]", "[2]"}},
         {"pad = [0, 0, 0, 0]", "pad = [0, 0, 0, -1]", "V0010", {"pad"}},
         {"pad = [0, 0, 0, 0]", "pad = [0, 0, 0]", "V0004", {"pad"}},
         {"stride = [1, 1]", "stride = [0, 1]", "V0010", {"stride"}},
         {"stride = [1, 1]", "stride = [1, 2147483647]", "V0009", {"stride"}},
         {"dilation = [1, 1]", "dilation = [1, -2147483648]", "V0010", {"dilation"}},
         {"acc_type = i32", "acc_type = i48", "V0006", {"i48"}},
         {"i32[1,4,4,2]", "i32[1,4,4,3]", "V0005", {"[1,4,4,3]", "[1,4,4,2]"}}});
}

// RESCALE's factors are values, not attributes: the specification leaves the result open, and the
// reference says so.
TEST(BadTosaFile, RescaleWithFactorsOutOfRange) {
  const auto run = [](int64_t multiplier, int shift, int32_t value) {
    const Bytes bytes = written(fmt::format(
        "tosa graph @main(%x: i32[1]) {{\n  %m = const i32[1] [{}]\n  %s = const i8[1] [{}]\n"
        "  %xzp = const i32[1] [0]\n  %yzp = const i8[1] [0]\n"
        "  %y: i8[1] = tosa.rescale(%x, %m, %s, %xzp, %yzp) {{scale32 = true, rounding_mode = "
        "\"single\", per_channel = false, input_unsigned = false, output_unsigned = false}}\n"
        "  return %y\n}}\n",
        multiplier, shift));
    auto module = read_flatbuffer(bytes, nullptr, "net.tosa");
    if (!module) return render(module.error());
    Reference reference(*(*module)->main());
    HostTensor input = HostTensor::allocate(DType::kI32, Shape{1});
    *input.mutable_data<int32_t>() = value;
    auto outputs = reference.run({&input, 1});
    if (!outputs) return render(outputs.error());
    if (!reference.unpredictable().empty()) return std::string("unpredictable");
    return fmt::format("{}", int{*(*outputs)[0].data<int8_t>()});
  };
  constexpr int32_t kMax = INT32_MAX;
  EXPECT_EQ(run(1 << 30, 30, 77), "77");
  // The limits: exact, (value * multiplier + 2^(shift - 1)) >> shift, clamped.
  EXPECT_EQ(run(kMax, 2, 1), "127");
  EXPECT_EQ(run(kMax, 2, -2), "-128");
  EXPECT_EQ(run(kMax, 62, 1 << 30), "0");  // 0.4999… before rounding
  EXPECT_EQ(run(kMax, 62, kMax), "1");     // 0.9999…
  EXPECT_EQ(run(kMax, 62, INT32_MIN), "-1");
  EXPECT_EQ(run(kMax, 31, -5), "-5");
  for (const int shift : {-128, -1, 0, 1, 63, 64, 127}) {
    EXPECT_EQ(run(1 << 30, shift, 5), "unpredictable") << shift;
  }
  for (const int32_t multiplier : {-1, INT32_MIN}) {
    EXPECT_EQ(run(multiplier, 30, 5), "unpredictable") << multiplier;
  }
}

}  // namespace
}  // namespace tosaic::tosa
