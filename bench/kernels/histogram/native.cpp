// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

// Four tables per block, one per byte position, so that equal neighbours do not wait for one another's store.
void run(char* const* data) {
  const uint32_t* in = reinterpret_cast<const uint32_t*>(data[0]);
  uint32_t* out = reinterpret_cast<uint32_t*>(data[1]);
#pragma omp parallel for schedule(static) reduction(+ : out[:kBins])
  for (int block = 0; block < kBlocks; ++block) {
    uint32_t bins[4][kBins] = {};
    const uint32_t* from = in + size_t(block) * (kWords / kBlocks);
    for (int i = 0; i < kWords / kBlocks; ++i) {
      const uint32_t word = from[i];
      ++bins[0][word & 255];
      ++bins[1][word >> 8 & 255];
      ++bins[2][word >> 16 & 255];
      ++bins[3][word >> 24];
    }
    for (int b = 0; b < kBins; ++b) out[b] += bins[0][b] + bins[1][b] + bins[2][b] + bins[3][b];
  }
}
