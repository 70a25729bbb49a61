// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// A member of a struct was never written; the struct is moved whole, and the member decides.
#include "../twin.h"
struct Rec { char tag; double x; short n; };
__global__ void make(Rec* r, int n) { int i = threadIdx.x; if (i < n) { r[i].tag = i; r[i].x = i * 0.5; 
} }
// expect: uninitialised A
__global__ void move(const Rec* from, Rec* to) { to[threadIdx.x] = from[63 - threadIdx.x]; }
// expect: uninitialised B
__global__ void use(const Rec* r, int* out) { if (r[threadIdx.x].n > 3) out[threadIdx.x] = 1 + (int)r[threadIdx.x].x; }
int main() {
  Rec *a, *b; cudaMalloc(&a, 64 * sizeof(Rec)); cudaMalloc(&b, 64 * sizeof(Rec));
  int* out = zeros(64);
  make<<<1, 64>>>(a, 64); move<<<1, 64>>>(a, b); use<<<1, 64>>>(b, out);
  return ended();
}
