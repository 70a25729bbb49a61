// SPDX-License-Identifier: Apache-2.0
// Work that a library of ours does on the host: a function in a stream's order, which reads and writes the device's
// memory. A capturing stream's graph gets a node.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <understudy.h>

#include <functional>
#include <vector>

namespace us::host_work {

// What work touches, for the device's checks.
class Touched {
 public:
  void matrix(const void* p, long rows, long columns, long ld, size_t element, bool writes);
  void triangle(const void* p, long n, long ld, size_t element, bool upper, bool writes);
  void vector(const void* p, long n, long increment, size_t element, bool writes);
  const std::vector<understudyRange>& ranges() const { return ranges_; }

 private:
  std::vector<understudyRange> ranges_;
};

bool run_in(cudaStream_t, const Touched&, std::function<void()> work);

}  // namespace us::host_work
