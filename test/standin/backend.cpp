// SPDX-License-Identifier: Apache-2.0
// Registers an "EthosUBackend" with ExecuTorch's runtime that computes on the host: it knows a
// delegate by its payload, and runs the TOSA graph from which the payload was made by the scalar
// reference. $TOSAIC_STANDIN_DIR is the folder with pairs NAME.payload and NAME.tosa, as `tosaic
// compile --dump DIR` writes them.
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/platform/log.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "partition.h"

namespace {

using executorch::runtime::ArrayRef;
using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::BackendInterface;
using executorch::runtime::CompileSpec;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::Span;
using tosaic::standin::Partition;

class StandInBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }

  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer* processed,
                               ArrayRef<CompileSpec>) const override {
    const char* dir = std::getenv("TOSAIC_STANDIN_DIR");
    std::span payload(static_cast<const std::byte*>(processed->data()), processed->size());
    std::string why;
    std::unique_ptr<Partition> partition =
        Partition::find(dir == nullptr ? "." : dir, payload, why);
    if (partition == nullptr) {
      ET_LOG(Error, "stand-in EthosUBackend: %s", why.c_str());
      return Error::DelegateInvalidCompatibility;
    }
    return static_cast<DelegateHandle*>(partition.release());
  }

  Error execute(BackendExecutionContext&, DelegateHandle* handle,
                Span<EValue*> args) const override {
    auto& partition = *static_cast<Partition*>(handle);
    if (args.size() != partition.num_inputs() + partition.num_outputs()) {
      ET_LOG(Error, "stand-in EthosUBackend: %zu arguments instead of %zu", args.size(),
             partition.num_inputs() + partition.num_outputs());
      return Error::InvalidProgram;
    }
    std::vector<std::span<const std::byte>> inputs;
    std::vector<std::span<std::byte>> outputs;
    for (size_t i = 0; i < args.size(); i++) {
      if (!args[i]->isTensor()) return Error::InvalidProgram;
      const auto& tensor = args[i]->toTensor();
      auto* data = static_cast<std::byte*>(tensor.mutable_data_ptr());
      if (i < partition.num_inputs()) {
        inputs.emplace_back(data, tensor.nbytes());
      } else {
        outputs.emplace_back(data, tensor.nbytes());
      }
    }
    std::string why = partition.run(inputs, outputs);
    if (why.empty()) return Error::Ok;
    ET_LOG(Error, "stand-in EthosUBackend: %s", why.c_str());
    return Error::InvalidProgram;
  }

  void destroy(DelegateHandle* handle) const override { delete static_cast<Partition*>(handle); }
};

/// The result is not looked at: where another backend has this name, the first one stays.
[[maybe_unused]] const Error kRegistered = [] {
  static StandInBackend backend;
  return executorch::runtime::register_backend({"EthosUBackend", &backend});
}();

}  // namespace
