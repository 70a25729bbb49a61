// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// A struct is copied with its padding, which nobody wrote, and its members decide.
#include "../twin.h"

struct Pair {
  char small;
  int large;
};

__global__ void copy(const int2* from, int2* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
__global__ void fill(Pair* pairs) {
  pairs[threadIdx.x].small = 1;
  pairs[threadIdx.x].large = threadIdx.x;
}
__global__ void use(const Pair* pairs, int* out) {
  const Pair& p = pairs[threadIdx.x];
  if (p.large > 5) out[threadIdx.x] = p.large;
}

int main() {
  int* out = zeros(32);
  Pair *one, *two;
  must(cudaMalloc(&one, 32 * sizeof(Pair)), "cudaMalloc");
  must(cudaMalloc(&two, 32 * sizeof(Pair)), "cudaMalloc");
  fill<<<1, 32>>>(one);
  copy<<<1, 32>>>((const int2*)one, (int2*)two);
  use<<<1, 32>>>(two, out);
  return judge(out, 32, [](int i) { return i > 5 ? i : 0; });
}
