// SPDX-License-Identifier: Apache-2.0
// arch: compute_90a
// A matrix product on a warpgroup: wgmma.m64n128k16 of halves from shared memory in the 128-byte swizzle. Arguments:
// a size; a second one, whatever it is, prints the time.
#include <cuda_fp16.h>

#include <chrono>
#include <cmath>

#include "program.h"
using namespace program;

constexpr int kM = 64, kN = 128, kK = 64;

__device__ uint64_t descriptor(uint32_t address) {  // 128-byte swizzle, 1024 bytes between groups of eight rows
  return uint64_t(address & 0x3ffff) >> 4 | uint64_t(1) << 16 | uint64_t(64) << 32 | uint64_t(1) << 62;
}
__device__ uint32_t swizzled(uint32_t at) { return at ^ ((at >> 7 & 7) << 4); }

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)

// a is row-major, b is column-major: both with k side by side.
__global__ void __launch_bounds__(128) gemm(float* c, const __half* a, const __half* b, int n) {
  extern __shared__ char raw[];
  char* tiles = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t(1023));
  char *as = tiles, *bs = tiles + kM * kK * 2;
  const int t = threadIdx.x, row0 = blockIdx.y * kM, column0 = blockIdx.x * kN;
  const uint32_t a_at = uint32_t(__cvta_generic_to_shared(as)), b_at = uint32_t(__cvta_generic_to_shared(bs));
  float d[64] = {};
  for (int k0 = 0; k0 < n; k0 += kK) {
    for (int k = t; k < kM * 8; k += 128)
      *reinterpret_cast<uint4*>(as + swizzled(k * 16)) = *reinterpret_cast<const uint4*>(a + size_t(row0 + k / 8) * n + k0 + k % 8 * 8);
    for (int k = t; k < kN * 8; k += 128)
      *reinterpret_cast<uint4*>(bs + swizzled(k * 16)) = *reinterpret_cast<const uint4*>(b + size_t(column0 + k / 8) * n + k0 + k % 8 * 8);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < kK / 16; ++k)
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
          "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "
          "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
          "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
          "%61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n}\n"
          : D16(0), D16(16), D16(32), D16(48)
          : "l"(descriptor(a_at + k * 32)), "l"(descriptor(b_at + k * 32)), "r"(k0 + k));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  const int lane = t % 32, warp = t / 32;
  for (int i = 0; i < 64; ++i)
    c[size_t(row0 + warp * 16 + lane / 4 + (i / 2 % 2) * 8) * n + column0 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 256;
  std::vector<__half> a(size_t(n) * n), b(a.size());
  const std::vector<uint32_t> r = random_words(a.size() * 2, 9);
  auto value = [&](size_t k) { return __float2half(float(int32_t(r[k]) >> 8) / float(1 << 23)); };
  for (size_t k = 0; k < a.size(); ++k) a[k] = value(k), b[k] = value(a.size() + k);
  Device<__half> da(a), db(b);
  Device<float> dc(a.size());
  const int bytes = (kM + kN) * kK * 2 + 1024;
  MUST(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const auto start = std::chrono::steady_clock::now();
  gemm<<<dim3(n / kN, n / kM), 128, bytes>>>(dc, da, db, n);
  MUST_RUN();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (argc > 2) std::printf("%.3f s\n", seconds);
  const std::vector<float> c = dc.copy();
  show("product", c);
  double worst = 0;
  for (int q = 0; q < 1000; ++q) {
    const int i = int(mix(q) % n), j = int(mix(q + 5000) % n);
    double want = 0;
    for (int k = 0; k < n; ++k) want += double(__half2float(a[size_t(i) * n + k])) * double(__half2float(b[size_t(j) * n + k]));
    worst = std::max(worst, std::fabs(want - c[size_t(i) * n + j]));
  }
  expect("near the exact product", worst < 1e-3);
  return finish();
}
