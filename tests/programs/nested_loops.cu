// SPDX-License-Identifier: Apache-2.0
// Divergent control flow: nested loops with break, continue and early return, irreducible jumps,
// dense and sparse switches.
#include "program.h"
using namespace program;

__host__ __device__ uint32_t loops(uint32_t seed) {
  uint32_t v = seed;
  for (uint32_t i = 0; i < seed % 9; ++i) {
    if (v % 7 == 3) continue;
    for (uint32_t j = 0;; ++j) {
      v = mix(v + j);
      if (v % 5 == 0) break;
      if (v % 11 == 0) goto next;
      uint32_t k = v % 6;
      while (k--) {
        v += k * j;
        if (v % 13 == 0) return v;
        if (v % 3 == 0) continue;
        v ^= i;
      }
      if (j > 10) break;
    }
    v += 1000;
  next:
    v ^= 77;
  }
  do v = v * 5 + 1;  // goes through all remainders
  while (v % 8 != 0 && v % 8 != 5);
  return v;
}

// A loop with two entries.
__host__ __device__ uint32_t two_entries(uint32_t v) {
  uint32_t fuel = v % 40;
  if (v & 1) goto middle;
top:
  v = mix(v);
  if (fuel-- == 0) return v;
  if (v % 4 == 0) goto out;
middle:
  v = v * 5 + 1;
  if (v % 3) goto top;
  v += 9;
  if (fuel > 5) {
    fuel -= 3;
    goto middle;
  }
out:
  return v ^ fuel;
}

__host__ __device__ uint32_t machine(uint32_t v) {  // a switch inside a loop, with fall-through
  uint32_t state = v % 8, steps = 0;
  while (state != 7 && ++steps < 60) {
    switch (state) {
      case 0: v += 3; state = v % 8; break;
      case 1: v *= 7;
      case 2: v ^= v >> 5; state = (v >> 3) % 8; break;
      case 3: state = 4; continue;
      case 4: v = mix(v); state = v % 5; break;
      case 5: v -= 11; state = 6; break;
      case 6: v = (v << 7) | (v >> 25); state = v % 8; break;
    }
    v += steps;
  }
  return v;
}

__host__ __device__ uint32_t dense(uint32_t v) {
  switch (v % 20) {
    case 0: return v * 3;
    case 1: return v ^ 0x1234;
    case 2: return mix(v);
    case 3: return v >> 3;
    case 4: return v + 99;
    case 5: return ~v;
    case 6: return v * v;
    case 7: return v - 12345;
    case 8: return (v >> 16) * 77;
    case 9: return mix(v * 2);
    case 10: return v & 0xFF00FF;
    case 11: return v | 0xFF;
    case 12: return v % 1001;
    case 13: return mix(v) + mix(v + 1);
    case 14: return v * 17 + 4;
    case 15: return v ^ (v << 9);
    default: return 5;
  }
}

__host__ __device__ uint32_t sparse(int v) {
  switch (v % 1000) {
    case -5: return 1;
    case 3: return 2;
    case 77: case 78: case 79: return 3;
    case 500: return 4;
    case 999: return 5;
    default: return v < 0 ? 6 : 7;
  }
}

__host__ __device__ uint32_t everything(uint32_t seed) {
  const uint32_t a = loops(seed), b = two_entries(mix(seed)), c = machine(mix(seed + 5)), d = dense(mix(seed) + seed);
  return a * 3 + b * 5 + c * 7 + d * 11 + sparse(int(seed % 2100) - 1050);
}

__global__ void run(uint32_t* a, uint32_t* b, uint32_t* c, uint32_t* d, uint32_t* e) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = loops(i), b[i] = two_entries(mix(i)), c[i] = machine(mix(i + 5)), d[i] = dense(mix(i) + i), e[i] = everything(i);
}

int main() {
  const int n = 4096;
  Device<uint32_t> a(n), b(n), c(n), d(n), e(n);
  run<<<n / 128, 128>>>(a, b, c, d, e);
  MUST_RUN();
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i) want[i] = loops(i);
  expect_equal("nested loops", a.copy(), want);
  for (int i = 0; i < n; ++i) want[i] = two_entries(mix(i));
  expect_equal("a loop with two entries", b.copy(), want);
  for (int i = 0; i < n; ++i) want[i] = machine(mix(i + 5));
  expect_equal("state machine", c.copy(), want);
  for (int i = 0; i < n; ++i) want[i] = dense(mix(i) + i);
  expect_equal("dense switch", d.copy(), want);
  for (int i = 0; i < n; ++i) want[i] = everything(i);
  expect_equal("all together", e.copy(), want);
  return finish();
}
