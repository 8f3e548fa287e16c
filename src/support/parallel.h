// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace tosaic {

/// How many threads `parallel_for` uses for `count` pieces of work: not more than the cores, at
/// least 1.
size_t num_threads_for(size_t count);

/// Calls `work(thread, i)` once for each i below `count`, in rising order over all threads, and
/// returns when all are done. `thread` is below `num_threads_for(count)`; 0 is the caller's own.
/// Work that is long compared with starting a thread (50 us) gains.
/// The first exception of the lowest thread is thrown again on the caller's thread.
void parallel_for(size_t count, const std::function<void(size_t thread, size_t i)>& work);

}  // namespace tosaic
