// SPDX-License-Identifier: Apache-2.0
// Cooperative groups inside a block: tiles, coalesced groups, partitions by label, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>

#include "program.h"
using namespace program;
namespace cg = cooperative_groups;

template <int kSize>
__global__ void tiles(uint32_t* out, const uint32_t* in) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<kSize>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = in[i];
  v += cg::reduce(tile, v, cg::plus<uint32_t>()) * 3;
  v ^= cg::reduce(tile, v, cg::greater<uint32_t>());
  v += tile.shfl(v, kSize - 1) + tile.shfl_up(v, 1) + tile.shfl_xor(v, kSize / 2);
  v += cg::inclusive_scan(tile, v, cg::plus<uint32_t>());
  v ^= cg::exclusive_scan(tile, v, cg::bit_xor<uint32_t>());
  v += tile.ballot(v & 1) * 7 + tile.any(v % 11 == 0) * 13 + tile.all(v % 3 != 0) * 17;
  out[i] = v + tile.meta_group_rank() * 1000003 + tile.thread_rank();
}

std::vector<uint32_t> tiles_reference(std::vector<uint32_t> v, int threads, int size) {
  for (size_t start = 0; start < v.size(); start += size) {
    uint32_t* t = &v[start];
    uint32_t sum = 0, top = 0, ballot = 0;
    for (int l = 0; l < size; ++l) sum += t[l];
    for (int l = 0; l < size; ++l) t[l] += sum * 3, top = std::max(top, t[l]);
    for (int l = 0; l < size; ++l) t[l] ^= top;
    std::vector<uint32_t> b(t, t + size);
    for (int l = 0; l < size; ++l) t[l] += b[size - 1] + b[l ? l - 1 : 0] + b[l ^ (size / 2)];
    uint32_t run = 0;
    for (int l = 0; l < size; ++l) run += t[l], t[l] += run;
    run = 0;
    for (int l = 0; l < size; ++l) { const uint32_t old = t[l]; t[l] ^= run; run ^= old; }
    bool any = false, all = true;
    for (int l = 0; l < size; ++l) ballot |= (t[l] & 1) << l, any |= t[l] % 11 == 0, all &= t[l] % 3 != 0;
    for (int l = 0; l < size; ++l) t[l] += ballot * 7 + any * 13 + all * 17 + start % threads / size * 1000003 + l;
  }
  return v;
}

__global__ void coalesced(uint32_t* out, const uint32_t* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = in[i];
  uint32_t result = 0;
  if (v % 3 == 1) {
    const auto group = cg::coalesced_threads();
    result = cg::reduce(group, v, cg::plus<uint32_t>()) + group.thread_rank() * 5 + group.size() * 1000 + group.shfl(v, group.size() - 1);
  } else if (v % 3 == 2) {
    const auto group = cg::coalesced_threads();
    result = cg::reduce(group, v, cg::less<uint32_t>()) ^ (group.ballot(v & 4) * 9);
  }
  out[i] = result;
}

__global__ void labels(uint32_t* out, const uint32_t* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const uint32_t v = in[i];
  const auto same = cg::labeled_partition(warp, v % 5);
  uint32_t result = cg::reduce(same, v, cg::plus<uint32_t>()) + same.thread_rank() * 3;
  const auto half = cg::binary_partition(warp, v & 8);
  result = result * 31 + half.size() * 7 + half.thread_rank();
  out[i] = result;
}

// One atomic per warp instead of one per thread: the order of the slots is free, the set of values is not.
__global__ void compact(uint32_t* out, uint32_t* count, const uint32_t* in) {
  const uint32_t v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v & 1) {
    const auto group = cg::coalesced_threads();
    uint32_t first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, group.size());
    out[group.shfl(first, 0) + group.thread_rank()] = v;
  }
}

int main() {
  const int blocks = 3, threads = 96, n = blocks * threads;
  const std::vector<uint32_t> in = random_words(n, 21);
  Device<uint32_t> from(in), out(n), count(1);
  tiles<32><<<blocks, threads>>>(out, from);
  MUST_RUN();
  expect_equal("tiles of 32", out.copy(), tiles_reference(in, threads, 32));
  tiles<16><<<blocks, threads>>>(out, from);
  MUST_RUN();
  expect_equal("tiles of 16", out.copy(), tiles_reference(in, threads, 16));
  tiles<4><<<blocks, threads>>>(out, from);
  MUST_RUN();
  expect_equal("tiles of 4", out.copy(), tiles_reference(in, threads, 4));

  std::vector<uint32_t> want(n);
  coalesced<<<blocks, threads>>>(out, from);
  MUST_RUN();
  for (int w = 0; w < n; w += 32) {
    uint32_t sum = 0, least = ~0u, ballot = 0, size1 = 0, size2 = 0, last = 0;
    for (int i = w; i < w + 32; ++i) {
      if (in[i] % 3 == 1) sum += in[i], last = in[i], want[i] = size1++ * 5;
      if (in[i] % 3 == 2) least = std::min(least, in[i]), ballot |= (in[i] >> 2 & 1) << size2++;
    }
    for (int i = w; i < w + 32; ++i) {
      if (in[i] % 3 == 1) want[i] += sum + size1 * 1000 + last;
      if (in[i] % 3 == 2) want[i] = least ^ (ballot * 9);
    }
  }
  expect_equal("coalesced groups", out.copy(), want);

  labels<<<blocks, threads>>>(out, from);
  MUST_RUN();
  for (int i = 0; i < n; ++i) {
    uint32_t sum = 0, rank = 0, size = 0, half_rank = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      if (in[k] % 5 == in[i] % 5) sum += in[k], rank += k < i;
      if ((in[k] & 8) == (in[i] & 8)) ++size, half_rank += k < i;
    }
    want[i] = (sum + rank * 3) * 31 + size * 7 + half_rank;
  }
  expect_equal("partitions by label", out.copy(), want);

  compact<<<blocks, threads>>>(out, count, from);
  MUST_RUN();
  std::vector<uint32_t> kept, got = out.copy();
  for (uint32_t v : in)
    if (v & 1) kept.push_back(v);
  got.resize(kept.size());
  std::sort(kept.begin(), kept.end());
  std::sort(got.begin(), got.end());
  expect("count of the kept", count.copy()[0] == kept.size());
  expect_equal("kept values, sorted", got, kept);
  return finish();
}
