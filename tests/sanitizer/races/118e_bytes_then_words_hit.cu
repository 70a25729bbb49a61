// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118, 119
// may: uninitialised-load
// Each thread writes a byte or a half of words that it shares with its neighbours; others read the words too early.
#include "../twin.h"

__global__ void kernel(const unsigned short* in, int* out, unsigned short* halves) {
  __shared__ __align__(4) unsigned char bytes[128];
  const int t = threadIdx.x;
  bytes[t] = t;  // expect: race-shared A
  if (t < 32) out[128 + blockIdx.x * 32 + t] = reinterpret_cast<const int*>(bytes)[t];  // expect: race-shared B
  halves[blockIdx.x * 128 + t] = in[t];  // expect: race-global C
  __syncthreads();
  const int other = (blockIdx.x ^ 1) * 64 + t;
  if (t < 64) out[blockIdx.x * 64 + t] = reinterpret_cast<const int*>(halves)[other];  // expect: race-global D
}

int main() {
  unsigned short *in = device<unsigned short>(128, [](int i) { return i; }), *halves = nullptr;
  must(cudaMalloc(&halves, 512), "cudaMalloc");
  kernel<<<2, 128>>>(in, zeros(192), halves);
  return ended();
}
