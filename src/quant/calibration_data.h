// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"
#include "support/npz.h"
#include "tosa/reference.h"

namespace tosaic {

/// Samples of a program's inputs, in memory.
class CalibrationData {
 public:
  /// Reads a .npz file, or the .npz files of a folder in the order of their names. An array per
  /// input of `graph`, by name or (when no array has the name of an input) in order, of shape
  /// [samples, *shape of the input]. `limit` > 0: no more samples than that. Errors: E0310 for
  /// arrays that do not fit, hold a NaN or no sample, E0306 for symbolic sizes, and those of
  /// read_npz.
  static Expected<CalibrationData> read(const std::string& path, const Graph& graph, int64_t limit);

  int64_t num_samples() const { return num_samples_; }
  /// Views of the arrays of one sample, in the order of the program's inputs.
  std::vector<tosa::HostTensor> sample(int64_t index) const;
  /// Names of the arrays that no input takes.
  const std::vector<std::string>& unused() const { return unused_; }
  /// There are several samples and all have the same bits.
  bool all_equal() const;

 private:
  struct Input {
    DType dtype;
    Shape shape;
    size_t bytes;  ///< of one sample
  };
  struct File {
    std::vector<NpyArray> arrays;  ///< by input
    int64_t first = 0;             ///< number of its first sample
    int64_t count = 0;
  };
  /// The first `most` samples of a file.
  Status add(const std::string& path, const Graph& graph, int64_t most);

  std::vector<Input> inputs_;
  std::vector<File> files_;
  std::vector<std::string> unused_;
  int64_t num_samples_ = 0;
};

}  // namespace tosaic
