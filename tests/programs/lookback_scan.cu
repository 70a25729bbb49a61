// SPDX-License-Identifier: Apache-2.0
// Inclusive scan in one pass: blocks draw tiles, publish their sums, and look back over earlier tiles until a full
// prefix stands.
#include "program.h"
using namespace program;

constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;
constexpr unsigned long long kSum = 1ull << 62, kPrefix = 2ull << 62;  // in the two top bits: what the word holds

__global__ void scan(const uint32_t* in, uint32_t* out, unsigned long long* status, uint32_t* next_tile, int count) {
  __shared__ uint32_t warp_sum[kThreads / 32], shared_tile, shared_before;
  if (threadIdx.x == 0) shared_tile = atomicAdd(next_tile, 1);
  __syncthreads();
  const int tile = shared_tile, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t item[kItems], sum = 0;
  for (int k = 0; k < kItems; ++k) {
    const int i = tile * kTile + threadIdx.x * kItems + k;
    item[k] = sum += i < count ? in[i] : 0;
  }
  uint32_t inclusive = sum;
  for (int step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, inclusive, step);
    if (lane >= step) inclusive += other;
  }
  if (lane == 31) warp_sum[warp] = inclusive;
  __syncthreads();
  uint32_t before_warp = 0, total = 0;
  for (int w = 0; w < kThreads / 32; ++w) before_warp += w < warp ? warp_sum[w] : 0, total += warp_sum[w];
  if (warp == 0) {
    if (lane == 0) atomicExch(&status[tile], (tile ? kSum : kPrefix) | total);
    uint32_t before = 0;
    for (int look = tile - 1; look >= 0; look -= 32) {  // 32 earlier tiles at a time, lane 0 the nearest
      const int mine = look - lane;
      unsigned long long word = kPrefix;
      if (mine >= 0)
        do word = *reinterpret_cast<volatile unsigned long long*>(&status[mine]);
        while (word >> 62 == 0);
      const unsigned full = __ballot_sync(~0u, word >> 62 == 2);
      const int last = full ? __ffs(full) - 1 : 31;
      before += __reduce_add_sync(~0u, lane <= last ? uint32_t(word) : 0u);
      if (full) break;
    }
    if (lane == 0) {
      if (tile) atomicExch(&status[tile], kPrefix | uint32_t(before + total));
      shared_before = before;
    }
  }
  __syncthreads();
  const uint32_t start = shared_before + before_warp + inclusive - sum;
  for (int k = 0; k < kItems; ++k) {
    const int i = tile * kTile + threadIdx.x * kItems + k;
    if (i < count) out[i] = start + item[k];
  }
}

int main() {
  for (int count : {1, 511, 512, 100000, 700001}) {
    const std::vector<uint32_t> in = random_words(count, count);
    const int tiles = (count + kTile - 1) / kTile;
    Device<uint32_t> from(in), out(count), next(1);
    Device<unsigned long long> status(tiles);
    scan<<<tiles, kThreads>>>(from, out, status, next, count);
    MUST_RUN();
    std::vector<uint32_t> want(count);
    uint32_t sum = 0;
    for (int i = 0; i < count; ++i) want[i] = sum += in[i];
    char name[40];
    std::snprintf(name, sizeof name, "scan of %d", count);
    expect_equal(name, out.copy(), want);
  }
  return finish();
}
