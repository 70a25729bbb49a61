// SPDX-License-Identifier: Apache-2.0
// Large arrays in each thread, indexed by data: sorting, permutations, bytes and structs,
// in functions that are called too.
#include "program.h"
using namespace program;

struct Item { uint8_t kind; uint16_t weight; uint32_t value; };

__host__ __device__ __noinline__ uint32_t histogram_of(uint32_t seed) {
  uint16_t bins[300];
  for (int k = 0; k < 300; ++k) bins[k] = 0;
  for (int k = 0; k < 500; ++k) {
    seed = mix(seed + k);
    bins[seed % 300] += k;
  }
  uint32_t sum = 0;
  for (int k = 0; k < 300; ++k) sum = sum * 5 + bins[k];
  return sum;
}

__host__ __device__ uint32_t churn(uint32_t seed) {
  uint32_t deck[96];
  Item items[20];
  uint8_t bytes[64];
  for (int k = 0; k < 96; ++k) deck[k] = mix(seed + k);
  for (int k = 95; k > 0; --k) {  // shuffle
    const int other = mix(seed ^ k) % (k + 1);
    const uint32_t t = deck[k];
    deck[k] = deck[other], deck[other] = t;
  }
  for (int gap = 48; gap; gap /= 2)  // sort
    for (int i = gap; i < 96; ++i)
      for (int j = i; j >= gap && deck[j - gap] > deck[j]; j -= gap) {
        const uint32_t t = deck[j];
        deck[j] = deck[j - gap], deck[j - gap] = t;
      }
  for (int k = 0; k < 20; ++k) items[k] = {uint8_t(k * seed), uint16_t(deck[k * 4]), deck[k]};
  for (int k = 0; k < 64; ++k) bytes[k] = uint8_t(items[(k * seed) % 20].value >> (k % 24));
  uint32_t sum = histogram_of(seed);
  for (int k = 0; k < 96; ++k) sum = sum * 3 + deck[(k * 7 + seed) % 96] + bytes[(sum ^ k) % 64];
  for (int k = 0; k < 40; ++k) {
    Item& it = items[sum % 20];
    it.weight += it.kind, it.value ^= it.weight, sum = sum * 9 + it.value;
  }
  return sum;
}

__global__ void run(uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = churn(i);
}

int main() {
  const int n = 600;
  Device<uint32_t> out(n);
  run<<<6, 100>>>(out);
  MUST_RUN();
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i) want[i] = churn(i);
  expect_equal("arrays in every thread", out.copy(), want);
  return finish();
}
