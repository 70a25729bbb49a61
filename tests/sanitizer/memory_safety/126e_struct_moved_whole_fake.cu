// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// All members were written, the padding was not.
#include "../twin.h"
struct Rec { char tag; double x; short n; };
__global__ void make(Rec* r, int n) { int i = threadIdx.x; if (i < n) { r[i].tag = i; r[i].x = i * 0.5; 
r[i].n = i;
} }
__global__ void move(const Rec* from, Rec* to) { to[threadIdx.x] = from[63 - threadIdx.x]; }
__global__ void use(const Rec* r, int* out) { if (r[threadIdx.x].n > 3) out[threadIdx.x] = 1 + (int)r[threadIdx.x].x; }
int main() {
  Rec *a, *b; cudaMalloc(&a, 64 * sizeof(Rec)); cudaMalloc(&b, 64 * sizeof(Rec));
  int* out = zeros(64);
  make<<<1, 64>>>(a, 64); move<<<1, 64>>>(a, b); use<<<1, 64>>>(b, out);
  return judge(out, 64, [](int i) { return 63 - i > 3 ? 1 + (63 - i) / 2 : 0; });
}
