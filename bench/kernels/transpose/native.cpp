// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "host_native.h"

// A tile of 32 x 32 is four blocks of 16 x 16, each transposed in registers.
typedef float Row __attribute__((vector_size(64)));
typedef int Lanes __attribute__((vector_size(64)));

template <int kStep, size_t... I>
static inline Lanes take(int half, std::index_sequence<I...>) {
  // Lane l comes from the first row where bit kStep of l is clear, else from the second; `half` picks the source bit.
  return Lanes{(int(I & kStep) ? 16 + int(I & ~size_t{kStep}) + half * kStep : int(I) + half * kStep)...};
}

template <int kStep>
static inline void exchange(Row (&rows)[16]) {
  const Lanes first = take<kStep>(0, std::make_index_sequence<16>()), second = take<kStep>(1, std::make_index_sequence<16>());
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) {
    if (r & kStep) continue;
    const Row a = rows[r], b = rows[r + kStep];
    rows[r] = __builtin_shuffle(a, b, first);
    rows[r + kStep] = __builtin_shuffle(a, b, second);
  }
}

static inline void transpose_block(const float* in, float* out) {
  Row rows[16];
  for (int r = 0; r < 16; ++r) std::memcpy(&rows[r], in + r * kTile, sizeof(Row));
  exchange<8>(rows);
  exchange<4>(rows);
  exchange<2>(rows);
  exchange<1>(rows);
  for (int r = 0; r < 16; ++r) std::memcpy(out + r * kTile, &rows[r], sizeof(Row));
}

void run(char* const* data) {
  const float* in = reinterpret_cast<const float*>(data[0]);
  float* out = reinterpret_cast<float*>(data[1]);
#pragma omp parallel for collapse(2) schedule(static)
  for (int y0 = 0; y0 < kSize; y0 += kTile)
    for (int x0 = 0; x0 < kSize; x0 += kTile) {
      alignas(64) float tile[kTile][kTile], turned[kTile][kTile];
      for (int r = 0; r < kTile; ++r) std::memcpy(tile[r], in + size_t(y0 + r) * kSize + x0, sizeof tile[r]);
      for (int y = 0; y < kTile; y += 16)
        for (int x = 0; x < kTile; x += 16) transpose_block(&tile[y][x], &turned[x][y]);
      for (int r = 0; r < kTile; ++r) std::memcpy(out + size_t(x0 + r) * kSize + y0, turned[r], sizeof turned[r]);
    }
}
