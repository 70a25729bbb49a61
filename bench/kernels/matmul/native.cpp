// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

// A row of the tile of C is one vector; both input tiles are staged, as in the GPU algorithm.
typedef float Row __attribute__((vector_size(kTile * sizeof(float))));

static void multiply_tile(const float* a, const float* b, float* c) {
  Row sum[kTile] = {};
  for (int k0 = 0; k0 < kSize; k0 += kTile) {
    alignas(64) float tile_a[kTile][kTile];
    Row tile_b[kTile];
    for (int r = 0; r < kTile; ++r) {
      std::memcpy(tile_a[r], a + size_t(r) * kSize + k0, sizeof(Row));
      std::memcpy(&tile_b[r], b + size_t(k0 + r) * kSize, sizeof(Row));
    }
#pragma GCC unroll 16
    for (int k = 0; k < kTile; ++k)
#pragma GCC unroll 16
      for (int r = 0; r < kTile; ++r) sum[r] += tile_a[r][k] * tile_b[k];
  }
  for (int r = 0; r < kTile; ++r) std::memcpy(c + size_t(r) * kSize, &sum[r], sizeof(Row));
}

void run(char* const* data) {
  const float* a = reinterpret_cast<const float*>(data[0]);
  const float* b = reinterpret_cast<const float*>(data[1]);
  float* c = reinterpret_cast<float*>(data[2]);
#pragma omp parallel for collapse(2) schedule(static)
  for (int y = 0; y < kSize; y += kTile)
    for (int x = 0; x < kSize; x += kTile)
      multiply_tile(a + size_t(y) * kSize, b + x, c + size_t(y) * kSize + x);
}
