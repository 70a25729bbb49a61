// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// may: uninitialised-load
// A sum of memory that nobody wrote goes through two kernels and shared memory before it decides.
#include "../twin.h"
__global__ void a(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1.f; }  // expect: uninitialised A
__global__ void b(const float* y, float* z) { __shared__ float s[32]; s[threadIdx.x] = y[threadIdx.x]; __syncwarp(); z[threadIdx.x] = s[threadIdx.x ^ 1]; }
// expect: uninitialised B
__global__ void c(const float* z, int* out) { if (z[threadIdx.x] > 0.f) out[threadIdx.x] = 1; }
int main() {
  float *x, *y = device<float>(32, [](int) { return 0.f; }), *z; cudaMalloc(&x, 128); cudaMalloc(&z, 128);
  int* out = zeros(32);
  a<<<1, 32>>>(x, y); b<<<1, 32>>>(y, z); c<<<1, 32>>>(z, out);
  return ended();
}
