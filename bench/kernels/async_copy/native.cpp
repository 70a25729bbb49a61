// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

void run(char* const* data) {
  const float* __restrict in = reinterpret_cast<const float*>(data[0]);
  float* __restrict out = reinterpret_cast<float*>(data[1]);
#pragma omp parallel for schedule(static)
  for (int tile = 0; tile < kCount / kTile; ++tile) {
    alignas(64) float staged[kTile];
    const float* from = in + size_t(tile) * kTile;
    float* to = out + size_t(tile) * kTile;
    for (int i = 0; i < kTile; ++i) staged[i] = from[i];
    for (int i = 0; i < kTile; ++i) to[i] = Problem::kScale * staged[kTile - 1 - i] + Problem::kBias;
  }
}
