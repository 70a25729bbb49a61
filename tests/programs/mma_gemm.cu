// SPDX-License-Identifier: Apache-2.0
// A matrix product of bf16 on tensor cores: cp.async into padded tiles, ldmatrix, mma.m16n8k16. Arguments: a size;
// a second one, whatever it is, prints the time.
#include <cuda_bf16.h>

#include <chrono>
#include <cmath>

#include "program.h"
using namespace program;

constexpr int kTile = 64, kDepth = 32, kRow = kDepth + 8, kRowB = kTile + 8;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

// Four warps make 64x64 of c, 32x32 each. a and b are row-major.
__global__ void __launch_bounds__(128) gemm(float* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int n) {
  __shared__ alignas(16) __nv_bfloat16 as[2][kTile][kRow], bs[2][kDepth][kRowB];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wi = warp / 2 * 32, wj = warp % 2 * 32;
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  auto stage = [&](int s, int k0) {
    for (int k = t; k < kTile * kDepth / 8; k += 128) {
      const int i = k / (kDepth / 8), j = k % (kDepth / 8) * 8;
      copy16(&as[s][i][j], a + size_t(row0 + i) * n + k0 + j);
    }
    for (int k = t; k < kDepth * kTile / 8; k += 128) {
      const int i = k / (kTile / 8), j = k % (kTile / 8) * 8;
      copy16(&bs[s][i][j], b + size_t(k0 + i) * n + column0 + j);
    }
    asm volatile("cp.async.commit_group;");
  };
  float d[2][4][4] = {};
  stage(0, 0);
  for (int k0 = 0, s = 0; k0 < n; k0 += kDepth, s ^= 1) {
    if (k0 + kDepth < n) {
      stage(s ^ 1, k0 + kDepth);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    for (int k = 0; k < kDepth; k += 16) {
      uint32_t ar[2][4], br[4][2];
      for (int i = 0; i < 2; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(ar[i][0]), "=r"(ar[i][1]), "=r"(ar[i][2]), "=r"(ar[i][3])
                     : "r"(shared_address(&as[s][wi + i * 16 + lane % 16][k + lane / 16 * 8])));
      for (int j = 0; j < 4; j += 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(br[j][0]), "=r"(br[j][1]), "=r"(br[j + 1][0]), "=r"(br[j + 1][1])
                     : "r"(shared_address(&bs[s][k + lane % 16][wj + j * 8 + lane / 16 * 8])));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
              : "r"(ar[i][0]), "r"(ar[i][1]), "r"(ar[i][2]), "r"(ar[i][3]), "r"(br[j][0]), "r"(br[j][1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e)
        c[size_t(row0 + wi + i * 16 + lane / 4 + e / 2 * 8) * n + column0 + wj + j * 8 + lane % 4 * 2 + e % 2] = d[i][j][e];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 256;
  std::vector<__nv_bfloat16> a(size_t(n) * n), b(a.size());
  const std::vector<uint32_t> r = random_words(a.size() * 2, 7);
  auto value = [&](size_t k) { return __float2bfloat16(float(int32_t(r[k]) >> 8) / float(1 << 23)); };
  for (size_t k = 0; k < a.size(); ++k) a[k] = value(k), b[k] = value(a.size() + k);
  Device<__nv_bfloat16> da(a), db(b);
  Device<float> dc(a.size());
  const auto start = std::chrono::steady_clock::now();
  gemm<<<dim3(n / kTile, n / kTile), 128>>>(dc, da, db, n);
  MUST_RUN();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (argc > 2) std::printf("%.3f s\n", seconds);
  const std::vector<float> c = dc.copy();
  show("product", c);
  double worst = 0;
  for (int q = 0; q < 1000; ++q) {
    const int i = int(mix(q) % n), j = int(mix(q + 5000) % n);
    double want = 0;
    for (int k = 0; k < n; ++k) want += double(__bfloat162float(a[size_t(i) * n + k])) * double(__bfloat162float(b[size_t(k) * n + j]));
    worst = std::max(worst, std::fabs(want - c[size_t(i) * n + j]));
  }
  expect("near the exact product", worst < 1e-3);
  return finish();
}
