// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118, 119
// Each thread writes a byte or a half of words that it shares with its neighbours; others read the words behind a
// barrier, and write them whole again.
#include "../twin.h"

__global__ void kernel(const unsigned short* in, int* out, unsigned short* halves) {
  __shared__ __align__(4) unsigned char bytes[128];
  const int t = threadIdx.x;
  bytes[t] = t;
  __syncthreads();
  if (t < 32) out[128 + blockIdx.x * 32 + t] = reinterpret_cast<const int*>(bytes)[t];
  halves[blockIdx.x * 128 + t] = in[t];
  __syncthreads();
  const int other = blockIdx.x * 64 + t;
  if (t < 64) out[blockIdx.x * 64 + t] = reinterpret_cast<const int*>(halves)[other];
  __syncthreads();
  if (t < 64) reinterpret_cast<int*>(halves)[other] = t;
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] += halves[blockIdx.x * 128 + 2 * t];
}

int main() {
  unsigned short *in = device<unsigned short>(128, [](int i) { return i; }), *halves = nullptr;
  must(cudaMalloc(&halves, 512), "cudaMalloc");
  int* out = zeros(192);
  kernel<<<2, 128>>>(in, out, halves);
  return judge(out, 128, [](int i) { return (i % 64 * 2) + (i % 64 * 2 + 1) * 65536 + i % 64; });
}
