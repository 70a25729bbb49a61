// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

// Three planes of a tile with halo rotate through `tiles`; the columns left and right of a row stand beside it.
struct Tile {
  alignas(64) float rows[kTileY + 2][kTileX + 32];  // point x stands at x + 16
};

static void load(Tile& tile, const float* in, int x0, int y0, int z) {
  const float* plane = in + size_t(std::min(std::max(z, 0), kZ - 1)) * kPlane;
  for (int r = 0; r < kTileY + 2; ++r) {
    const float* row = plane + size_t(std::min(std::max(y0 + r - 1, 0), kY - 1)) * kX;
    for (int x = 0; x < kTileX; ++x) tile.rows[r][x + 16] = row[x0 + x];
    tile.rows[r][15] = row[std::max(x0 - 1, 0)];
    tile.rows[r][kTileX + 16] = row[std::min(x0 + kTileX, kX - 1)];
  }
}

static void compute(const Tile& behind, const Tile& centre, const Tile& front, float* out) {
  for (int r = 0; r < kTileY; ++r) {
    const float* c = centre.rows[r + 1] + 16;
    const float* up = centre.rows[r] + 16;
    const float* down = centre.rows[r + 2] + 16;
    const float* b = behind.rows[r + 1] + 16;
    const float* f = front.rows[r + 1] + 16;
    float* to = out + size_t(r) * kX;
#pragma GCC ivdep
    for (int x = 0; x < kTileX; ++x)
      to[x] = Problem::kCentre * c[x] + Problem::kNeighbour * (c[x - 1] + c[x + 1] + up[x] + down[x] + b[x] + f[x]);
  }
}

void run(char* const* data) {
  const float* in = reinterpret_cast<const float*>(data[0]);
  float* out = reinterpret_cast<float*>(data[1]);
#pragma omp parallel for collapse(3) schedule(static)
  for (int z0 = 0; z0 < kZ; z0 += kDepth)
    for (int y0 = 0; y0 < kY; y0 += kTileY)
      for (int x0 = 0; x0 < kX; x0 += kTileX) {
        Tile tiles[3];
        load(tiles[0], in, x0, y0, z0 - 1);
        load(tiles[1], in, x0, y0, z0);
        for (int step = 0; step < kDepth; ++step) {
          load(tiles[(step + 2) % 3], in, x0, y0, z0 + step + 1);
          compute(tiles[step % 3], tiles[(step + 1) % 3], tiles[(step + 2) % 3],
                  out + size_t(z0 + step) * kPlane + size_t(y0) * kX + x0);
        }
      }
}
