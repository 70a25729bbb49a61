// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

void run(char* const* data) {
  const float* __restrict in = reinterpret_cast<const float*>(data[0]);
  float* __restrict out = reinterpret_cast<float*>(data[1]);
#pragma omp parallel for schedule(static)
  for (int block = 0; block < kCount / kBlock; ++block) {
    alignas(64) float tile[kBlock];
    const float* from = in + size_t(block) * kBlock;
    float* to = out + size_t(block) * kBlock;
    for (int t = 0; t < kBlock; ++t) tile[t] = from[t];
    for (int t = 0; t < kBlock; ++t) to[t] = Problem::kScale * tile[kBlock - 1 - t] + Problem::kBias;
  }
}
