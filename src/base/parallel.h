// SPDX-License-Identifier: Apache-2.0
// Pieces of work that do not depend on each other.
#pragma once
#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "base/types.h"

namespace us {

// f(0) to f(n - 1), in any order, by the calling thread and as many others as there are processors. f throws nothing.
template <class F>
void for_each_index(std::size_t n, F&& f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t k; (k = next++) < n;) f(k);
  };
  std::vector<std::jthread> others;
  const std::size_t threads = std::min<std::size_t>(n, std::max(1u, std::thread::hardware_concurrency()));
  try {
    while (others.size() + 1 < threads) others.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads: fewer do it
  }
  work();
}

}  // namespace us
