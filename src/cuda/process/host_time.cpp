// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/host_time.h"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "timing/host_calls.h"

namespace us::cuda {
namespace {

u64 processor_time() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<u64>(t.tv_sec) * 1'000'000'000 + static_cast<u64>(t.tv_nsec);
}

// What looking at the clock takes itself.
u64 of_looking() {
  static const u64 least = [] {
    u64 l = ~u64{0};
    for (int k = 0; k < 64; ++k) {
      const u64 before = processor_time();
      l = std::min(l, processor_time() - before);
    }
    return l;
  }();
  return least;
}

std::atomic<u32> threads{0};

}  // namespace

HostThread& host_thread() {
  static thread_local HostThread t;
  return t;
}

void host_works() {
  HostThread& t = host_thread();
  if (!t.counts_processor || t.depth) return;
  const u64 now = processor_time();
  t.since += static_cast<double>(now - t.processor - std::min(now - t.processor, of_looking()));
  t.processor = now;
}

void host_call_begins(std::string_view function, bool count_processor) {
  static const timing::Parameters parameters;
  HostThread& t = host_thread();
  if (!t.number) t.number = ++threads;
  if (count_processor) host_works();
  if (t.depth++ == 0) t.since += timing::host_cost(parameters, function);
}

void host_call_ends(bool count_processor) {
  HostThread& t = host_thread();
  if (t.depth == 0 || --t.depth || !count_processor) return;
  t.counts_processor = true;
  t.processor = processor_time();
}

}  // namespace us::cuda
