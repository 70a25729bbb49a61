// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// may: uninitialised-load
// A value that nobody wrote is copied, and its copy decides.
#include "../twin.h"

struct Pair {
  char small;
  int large;
};

__global__ void copy(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];  // expect: uninitialised A
}
__global__ void use(const Pair* pairs, int* out) {
  const Pair& p = pairs[threadIdx.x];
  if (p.large > 5) out[threadIdx.x] = p.large;  // expect: uninitialised B
}

int main() {
  int* out = zeros(32);
  Pair *one, *two;
  must(cudaMalloc(&one, 32 * sizeof(Pair)), "cudaMalloc");
  must(cudaMalloc(&two, 32 * sizeof(Pair)), "cudaMalloc");
  copy<<<1, 64>>>((const int*)one, (int*)two);
  use<<<1, 32>>>(two, out);
  return ended();
}
