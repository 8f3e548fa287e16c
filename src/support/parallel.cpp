// SPDX-License-Identifier: Apache-2.0
#include "support/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace tosaic {

size_t num_threads_for(size_t count) {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<size_t>(count, 1, cores);
}

void parallel_for(size_t count, const std::function<void(size_t thread, size_t i)>& work) {
  const size_t num_threads = num_threads_for(count);
  std::vector<std::exception_ptr> thrown(num_threads);
  std::atomic<size_t> next = 0;
  const auto run = [&](size_t thread) {
    try {
      for (size_t i = next++; i < count; i = next++)
        work(thread, i);
    } catch (...) {
      thrown[thread] = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < num_threads; ++i)
      threads.emplace_back(run, i);
    run(0);
  }
  for (const std::exception_ptr& e : thrown) {
    if (e) std::rethrow_exception(e);
  }
}

}  // namespace tosaic
