// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic {

struct Target;

/// What may be true of a graph. Passes need, give and break properties; they never name each other.
enum class Property : uint32_t {
  kNone = 0,
  kFunctional = 1 << 0,       ///< no in-place operators, no no-ops of tracing
  kQdqFolded = 1 << 1,        ///< quantised values are typed; q/dq nodes stand only at borders
  kPartitioned = 1 << 2,      ///< NPU parts are outlined into graphs of their own
  kTosa = 1 << 3,             ///< only TOSA operations
  kLayoutChosen = 1 << 4,     ///< as few transposes as the layout pass can reach
  kConstantsShared = 1 << 5,  ///< equal constants are one value
};
constexpr Property operator|(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr Property operator&(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}
constexpr Property without(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) & ~static_cast<uint32_t>(b));
}

/// What a pass may ask and tell. One per compilation.
struct PassContext {
  const Target* target = nullptr;          ///< tosa/spec.h
  std::function<bool(const Node&)> legal;  ///< the target's rows; empty: everything is
  DiagnosticSink* diagnostics = nullptr;
  bool changed = false;  ///< a pass sets it when it changed the graph
};

/// A verb in a file of its own: `Status run_fold_rescale(Graph&, PassContext&)`.
struct Pass {
  std::string_view name;
  Status (*run)(Graph&, PassContext&);
  Property needs = Property::kNone;
  Property gives = Property::kNone;
  Property breaks = Property::kNone;
  std::string_view doc;
};

/// True when every pass finds what it needs, starting from `have`: for static_assert on pipelines.
constexpr bool pipeline_is_ordered(std::span<const Pass* const> passes, Property have) {
  for (const Pass* pass : passes) {
    if ((have & pass->needs) != pass->needs) return false;
    have = without(have, pass->breaks) | pass->gives;
  }
  return true;
}

/// Flags of DESIGN §1 that concern passes.
struct PassOptions {
  bool verify_each = false;    ///< --verify
  bool print_changed = false;  ///< --print-changed: IR to stderr after passes that changed it
  std::string print_before;    ///< --print-before=P; "all" means every pass
  std::string print_after;     ///< --print-after=P, or "all"
  std::string stop_after;      ///< --stop-after=P
  std::set<std::string, std::less<>> disabled;  ///< --disable=P
  bool time_passes = false;                     ///< --time-passes
  std::string dump_dir;  ///< IR per pass, NN_name.tir (large constants elided)
};

struct PassTime {
  std::string_view name;
  double seconds = 0;
};

/// Runs passes in order on a graph. After an error, the graph as it was before the failing pass is
/// written to tosaic-<pass>.tir in dump_dir, else to tosaic-<pass>-XXXXXX.tir in $TMPDIR, that
/// `tosaic opt` reruns; the error's notes and hint say how. A broken invariant (BugError) in a pass
/// becomes such an error too.
class PassManager {
 public:
  explicit PassManager(PassOptions options) : options_(std::move(options)) {}
  Status run(std::span<const Pass* const> passes, Graph& graph, PassContext& context);
  const std::vector<PassTime>& times() const { return times_; }
  bool stopped() const { return stopped_; }  ///< --stop-after was reached

 private:
  Status dump(const Pass& pass, const Module& module);

  PassOptions options_;
  std::vector<PassTime> times_;
  int num_dumped_ = 0;
  bool stopped_ = false;
};

}  // namespace tosaic
