// SPDX-License-Identifier: Apache-2.0
// Votes, matches, shuffles of every kind and width, warp reductions: full warps and warps that are not full.
#include "program.h"
using namespace program;

constexpr int kKinds = 24;

__global__ void collect(uint32_t* out, const uint32_t* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned mask = __activemask();
  const uint32_t v = in[i];
  const float f = __uint_as_float(0x3f800000 | (v & 0x7fffff));
  const double d = __longlong_as_double(0x3ff0000000000000ull | v);
  int equal = 0;
  uint32_t* o = out + i * kKinds;
  o[0] = __any_sync(mask, v % 50 == 7);
  o[1] = __all_sync(mask, v % 50 != 7);
  o[2] = __ballot_sync(mask, v & 1);
  o[3] = __match_any_sync(mask, v % 4);
  o[4] = __match_any_sync(mask, uint64_t(v % 3) << 40);
  o[5] = __match_all_sync(mask, v / 0x90000000u, &equal) + equal;
  o[6] = __shfl_sync(mask, v, 5);
  o[7] = __shfl_sync(mask, v, v, 8);
  o[8] = __shfl_up_sync(mask, v, 3);
  o[9] = __shfl_up_sync(mask, v, 1, 4);
  o[10] = __shfl_down_sync(mask, v, 2, 16);
  o[11] = __shfl_xor_sync(mask, v, 1);
  o[12] = __shfl_xor_sync(mask, v, 6, 8);
  o[13] = __float_as_uint(__shfl_xor_sync(mask, f, 1));
  o[14] = uint32_t(__double_as_longlong(__shfl_up_sync(mask, d, 1)) >> 3);
  o[15] = uint32_t(__shfl_sync(mask, uint64_t(v) << 16, 0) >> 9);
  o[16] = __reduce_add_sync(mask, v);
  o[17] = __reduce_min_sync(mask, v);
  o[18] = __reduce_max_sync(mask, int(v));
  o[19] = __reduce_and_sync(mask, v | 0xF0F0);
  o[20] = __reduce_or_sync(mask, v & 0x10101010);
  o[21] = __reduce_xor_sync(mask, v);
  o[22] = __popc(mask);
  o[23] = __reduce_min_sync(mask, int(v));
}

uint32_t reference(const std::vector<uint32_t>& in, int first, int lanes, int l, int kind) {
  const uint32_t* w = &in[first];
  const uint32_t v = w[l];
  const auto value = [&](int from) { return w[from]; };
  const auto up = [&](int by, int width) { return l % width >= by ? l - by : l; };
  const auto down = [&](int by, int width) { return l % width + by < width ? l + by : l; };
  uint32_t acc = 0;
  switch (kind) {
    case 0: for (int k = 0; k < lanes; ++k) acc |= w[k] % 50 == 7; return acc;
    case 1: acc = 1; for (int k = 0; k < lanes; ++k) acc &= w[k] % 50 != 7; return acc;
    case 2: for (int k = 0; k < lanes; ++k) acc |= (w[k] & 1) << k; return acc;
    case 3: for (int k = 0; k < lanes; ++k) acc |= uint32_t(w[k] % 4 == v % 4) << k; return acc;
    case 4: for (int k = 0; k < lanes; ++k) acc |= uint32_t(w[k] % 3 == v % 3) << k; return acc;
    case 5: acc = 1; for (int k = 0; k < lanes; ++k) acc &= w[k] / 0x90000000u == w[0] / 0x90000000u;
      return acc ? uint32_t((uint64_t(1) << lanes) - 1) + 1 : 0;
    case 6: return value(5);
    case 7: return value((l & ~7) + v % 8);
    case 8: return value(up(3, 32));
    case 9: return value(up(1, 4));
    case 10: return value(down(2, 16));
    case 11: return value(l ^ 1);
    case 12: return value(l ^ 6);
    case 13: return 0x3f800000 | (value(l ^ 1) & 0x7fffff);
    case 14: return uint32_t((0x3ff0000000000000ull | value(up(1, 32))) >> 3);
    case 15: return uint32_t((uint64_t(value(0)) << 16) >> 9);
    case 16: for (int k = 0; k < lanes; ++k) acc += w[k]; return acc;
    case 17: acc = ~0u; for (int k = 0; k < lanes; ++k) acc = w[k] < acc ? w[k] : acc; return acc;
    case 18: acc = 0x80000000u; for (int k = 0; k < lanes; ++k) acc = int(w[k]) > int(acc) ? w[k] : acc; return acc;
    case 19: acc = ~0u; for (int k = 0; k < lanes; ++k) acc &= w[k] | 0xF0F0; return acc;
    case 20: for (int k = 0; k < lanes; ++k) acc |= w[k] & 0x10101010; return acc;
    case 21: for (int k = 0; k < lanes; ++k) acc ^= w[k]; return acc;
    case 22: return lanes;
    default: acc = 0x7fffffffu; for (int k = 0; k < lanes; ++k) acc = int(w[k]) < int(acc) ? w[k] : acc; return acc;
  }
}

int main() {
  for (int n : {32, 512, 248}) {  // the last warp of 248 has 24 lanes: every source lane used exists
    const std::vector<uint32_t> in = random_words(n, n);
    Device<uint32_t> from(in), out(n * kKinds);
    collect<<<(n + 63) / 64, 64>>>(out, from, n);
    MUST_RUN();
    std::vector<uint32_t> want(n * kKinds);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < kKinds; ++k) want[i * kKinds + k] = reference(in, i / 32 * 32, n - i / 32 * 32 < 32 ? n - i / 32 * 32 : 32, i % 32, k);
    // A lane that would read one beyond the end gets an undefined value: leave those out.
    std::vector<uint32_t> got = out.copy();
    for (int i = n / 32 * 32; i < n; ++i)
      if (i % 32 % 16 + 2 < 16 && i + 2 >= n) got[i * kKinds + 10] = want[i * kKinds + 10] = 0;
    char name[40];
    std::snprintf(name, sizeof name, "%d threads", n);
    expect_equal(name, got, want);
  }
  return finish();
}
