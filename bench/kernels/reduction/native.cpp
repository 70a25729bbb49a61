// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

void run(char* const* data) {
  const float* in = reinterpret_cast<const float*>(data[0]);
  float total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int block = 0; block < kCount / kPerBlock; ++block) {
    const float* from = in + size_t(block) * kPerBlock;
    float sums[64] = {};
    for (int i = 0; i < kPerBlock; i += 64)
      for (int l = 0; l < 64; ++l) sums[l] += from[i + l];
    float sum = 0;
    for (int l = 0; l < 64; ++l) sum += sums[l];
    total += sum;
  }
  *reinterpret_cast<float*>(data[1]) += total;
}
