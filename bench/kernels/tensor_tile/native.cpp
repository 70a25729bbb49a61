// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

// A tile is copied in, changed, and copied out.
static void run_tile(const float* in, float* out) {
  alignas(64) float tile[kTileRows][kTileColumns];
  for (int r = 0; r < kTileRows; ++r) std::memcpy(tile[r], in + size_t(r) * kColumns, sizeof tile[r]);
  for (auto& row : tile)
    for (float& x : row) x = Problem::kScale * x + Problem::kBias;
  for (int r = 0; r < kTileRows; ++r) std::memcpy(out + size_t(r) * kColumns, tile[r], sizeof tile[r]);
}

void run(char* const* data) {
  const float* in = reinterpret_cast<const float*>(data[0]);
  float* out = reinterpret_cast<float*>(data[1]);
#pragma omp parallel for schedule(static)
  for (int y = 0; y < kRows; y += kTileRows)
    for (int x = 0; x < kColumns; x += kTileColumns)
      run_tile(in + size_t(y) * kColumns + x, out + size_t(y) * kColumns + x);
}
