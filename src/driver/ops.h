// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tosaic {

/// `tosaic ops`: the rows of PyTorch operators by name, with what each serves and how, then the
/// operations of TOSA: a table for people, or JSON (the fields are documented in docs/report.md).
/// Tests compare it with PyTorch's and ExecuTorch's own schemas.
std::string list_ops(bool json);

}  // namespace tosaic
