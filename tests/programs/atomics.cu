// SPDX-License-Identifier: Apache-2.0
// Every atomic of CUDA C++, in global and in shared memory. Sums and the like do not depend on the order; where the old
// value matters the program checks that all old values together are what some order gives.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <type_traits>

#include "program.h"
using namespace program;

constexpr int kThreads = 128, kBlocks = 5, kCount = kThreads * kBlocks;

template <typename T>
__host__ __device__ T value(uint32_t i) { return T(mix(i) * 0x123456789ull + i); }

// Where CUDA has no form for long long, the unsigned one does the same.
template <typename T>
using Plain = std::conditional_t<sizeof(T) == 8, unsigned long long, T>;

template <typename T>
__device__ void integer_ops(T* cell, uint32_t i) {
  const T v = value<T>(i);
  Plain<T>* plain = reinterpret_cast<Plain<T>*>(cell);
  atomicAdd(&plain[0], Plain<T>(v));
  atomicMin(&cell[1], v);
  atomicMax(&cell[2], v);
  atomicAnd(&cell[3], v | T(0x7070));
  atomicOr(&cell[4], v & T(0x11111));
  atomicXor(&cell[5], v);
  Plain<T> old = plain[6], seen;
  do seen = old, old = atomicCAS(&plain[6], seen, Plain<T>(uint64_t(seen) + uint64_t(v)));
  while (old != seen);
  if (i == 77) atomicExch(&plain[7], Plain<T>(v));
}

template <typename T>
std::vector<T> integer_reference() {
  std::vector<T> cell(8);
  cell[3] = T(~T(0));
  for (uint32_t i = 0; i < kCount; ++i) {
    const T v = value<T>(i);
    cell[0] = T(uint64_t(cell[0]) + uint64_t(v)), cell[1] = std::min(cell[1], v), cell[2] = std::max(cell[2], v);
    cell[3] &= v | T(0x7070), cell[4] |= v & T(0x11111), cell[5] ^= v, cell[6] = cell[0];
    if (i == 77) cell[7] = v;
  }
  return cell;
}

template <typename T>
__global__ void in_global(T* cell) { integer_ops(cell, blockIdx.x * blockDim.x + threadIdx.x); }

template <typename T>
__global__ void in_shared(T* cell) {  // one block does the work of all
  __shared__ T mine[8];
  if (threadIdx.x < 8) mine[threadIdx.x] = threadIdx.x == 3 ? T(~T(0)) : T(0);
  __syncthreads();
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) integer_ops(mine, i);
  __syncthreads();
  if (threadIdx.x < 8) cell[threadIdx.x] = mine[threadIdx.x];
}

template <typename T>
void integers(const char* name) {
  std::vector<T> start(8);
  start[3] = T(~T(0));
  Device<T> global(start), shared(8);
  in_global<<<kBlocks, kThreads>>>(static_cast<T*>(global));
  in_shared<<<1, kThreads>>>(static_cast<T*>(shared));
  MUST_RUN();
  char text[60];
  std::snprintf(text, sizeof text, "%s in global memory", name);
  expect_equal(text, global.copy(), integer_reference<T>());
  std::snprintf(text, sizeof text, "%s in shared memory", name);
  expect_equal(text, shared.copy(), integer_reference<T>());
}

__global__ void counters(uint32_t* up, uint32_t* down, uint32_t* minus, uint32_t* old) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  old[i] = atomicInc(up, 99);
  old[kCount + i] = atomicDec(down, 49);
  old[2 * kCount + i] = atomicSub(minus, 3u);
  old[3 * kCount + i] = atomicAdd(minus + 1, 2u);
}

__global__ void floats(float* f, double* d, __half2* h, __nv_bfloat162* b, float2* f2, float4* f4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(f, float(i % 8));
  atomicAdd(d, i * 0.5);
  atomicAdd(h, __floats2half2_rn(float(i % 2), float(i % 3)));
  atomicAdd(b, __floats2bfloat162_rn(float(i % 64 == 0), float(i % 128 == 1)));
  atomicAdd(f2, make_float2(float(i % 4), 2));
  atomicAdd(f4, make_float4(1, float(i % 2), 3, 4));
  __shared__ float sf;
  __shared__ double sd;
  if (threadIdx.x == 0) sf = 0, sd = 0;
  __syncthreads();
  atomicAdd(&sf, float(i % 16));
  atomicAdd(&sd, i * 0.25);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(f + 1, sf), atomicAdd(d + 1, sd);
}

__global__ void narrow(unsigned short* s, uint32_t* block_scope, uint32_t* system_scope) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned short old = s[i % 4], seen;
  do seen = old, old = atomicCAS(&s[i % 4], seen, static_cast<unsigned short>(seen + i));
  while (old != seen);
  atomicAdd_block(&block_scope[blockIdx.x], i);
  atomicMax_block(&block_scope[kBlocks + blockIdx.x], mix(i));
  atomicAdd_system(system_scope, mix(i));
  atomicXor_system(system_scope + 1, mix(i));
}

int main() {
  integers<uint32_t>("u32");
  integers<int>("s32");
  integers<unsigned long long>("u64");
  integers<long long>("s64");

  Device<uint32_t> up(1), down(1), minus(2), old(4 * kCount);
  counters<<<kBlocks, kThreads>>>(up, down, minus, old);
  MUST_RUN();
  std::vector<uint32_t> got = old.copy(), want(4 * kCount);
  uint32_t u = 0, d = 0;
  for (int i = 0; i < kCount; ++i) {
    want[i] = u, u = u >= 99 ? 0 : u + 1;
    want[kCount + i] = d, d = d == 0 || d > 49 ? 49 : d - 1;
    want[2 * kCount + i] = -3u * i, want[3 * kCount + i] = 2 * i;
  }
  for (int k = 0; k < 4; ++k) {
    std::sort(got.begin() + k * kCount, got.begin() + (k + 1) * kCount);
    std::sort(want.begin() + k * kCount, want.begin() + (k + 1) * kCount);
  }
  expect_equal("old values of inc, dec, sub, add", got, want);
  expect("last values", up.copy()[0] == u && down.copy()[0] == d && minus.copy()[0] == -3u * kCount);

  Device<float> f(2), f2(2), f4(4);
  Device<double> real(2);
  Device<__half2> h(1);
  Device<__nv_bfloat162> b(1);
  floats<<<kBlocks, kThreads>>>(f, real, h, b, reinterpret_cast<float2*>(static_cast<float*>(f2)), reinterpret_cast<float4*>(static_cast<float*>(f4)));
  MUST_RUN();
  std::vector<float> wf(2), wf2(2), wf4(4);
  std::vector<double> wd(2);
  float h0 = 0, h1 = 0, b0 = 0, b1 = 0;
  for (int i = 0; i < kCount; ++i) {
    wf[0] += i % 8, wf[1] += i % 16, wd[0] += i * 0.5, wd[1] += i * 0.25, h0 += i % 2, h1 += i % 3, b0 += i % 64 == 0, b1 += i % 128 == 1;
    wf2[0] += i % 4, wf2[1] += 2, wf4[0] += 1, wf4[1] += i % 2, wf4[2] += 3, wf4[3] += 4;
  }
  expect_equal("float", f.copy(), wf);
  expect_equal("double", real.copy(), wd);
  expect_equal("half2", h.copy(), {__floats2half2_rn(h0, h1)});
  expect_equal("bfloat162", b.copy(), {__floats2bfloat162_rn(b0, b1)});
  expect_equal("float2", f2.copy(), wf2);
  expect_equal("float4", f4.copy(), wf4);

  Device<unsigned short> s(4);
  Device<uint32_t> scoped(2 * kBlocks), whole(2);
  narrow<<<kBlocks, kThreads>>>(s, scoped, whole);
  MUST_RUN();
  std::vector<unsigned short> ws(4);
  std::vector<uint32_t> wb(2 * kBlocks), ww(2);
  for (int i = 0; i < kCount; ++i) {
    ws[i % 4] += i, wb[i / kThreads] += i, wb[kBlocks + i / kThreads] = std::max(wb[kBlocks + i / kThreads], mix(i));
    ww[0] += mix(i), ww[1] ^= mix(i);
  }
  expect_equal("16-bit compare and swap", s.copy(), ws);
  expect_equal("block scope", scoped.copy(), wb);
  expect_equal("system scope", whole.copy(), ww);
  return finish();
}
