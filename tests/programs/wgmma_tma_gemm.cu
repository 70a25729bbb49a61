// SPDX-License-Identifier: Apache-2.0
// arch: compute_90a
// A matrix product as libraries write it for Hopper: a producer warp asks for tiles with bulk tensor copies into a ring
// of slots, two warpgroups multiply them with wgmma, mbarriers say which slots are full and which are empty, registers
// go where they are needed (setmaxnreg). Arguments: a size; a second one, whatever it is, prints the time.
#include <cuda.h>
#include <cuda_fp16.h>

#include <chrono>
#include <cmath>

#include "program.h"
using namespace program;

constexpr int kM = 128, kN = 128, kK = 64, kStages = 4;

struct Stage {
  __half a[kM * kK], b[kN * kK];
};

__device__ uint32_t shared(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint64_t descriptor(uint32_t address) {  // 128-byte swizzle, 1024 bytes between groups of eight rows
  return uint64_t(address & 0x3ffff) >> 4 | uint64_t(1) << 16 | uint64_t(64) << 32 | uint64_t(1) << 62;
}
__device__ void wait(uint64_t* bar, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(shared(bar)), "r"(parity) : "memory");
}
__device__ void load(void* to, const CUtensorMap& map, int x, int y, uint64_t* bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared(to)), "l"(&map),
               "r"(x), "r"(y), "r"(shared(bar)) : "memory");
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)

// a is row-major, b is column-major: both with k side by side.
__global__ void __launch_bounds__(384) gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int n) {
  extern __shared__ __align__(1024) Stage stages[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row0 = blockIdx.y * kM, column0 = blockIdx.x * kN;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared(&empty[s])) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0)
      for (int k = 0; k < n / kK; ++k) {
        const int s = k % kStages;
        wait(&empty[s], (k / kStages & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full[s])), "r"(uint32_t(sizeof(Stage))) : "memory");
        load(stages[s].a, a, k * kK, row0, &full[s]);
        load(stages[s].b, b, k * kK, column0, &full[s]);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64] = {};
  for (int step = 0; step < n / kK; ++step) {
    const int s = step % kStages;
    wait(&full[s], step / kStages & 1);
    const uint32_t a_at = shared(stages[s].a) + (group - 1) * 64 * kK * 2, b_at = shared(stages[s].b);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < kK / 16; ++k)
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
          "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "
          "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
          "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
          "%61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n}\n"
          : D16(0), D16(16), D16(32), D16(48)
          : "l"(descriptor(a_at + k * 32)), "l"(descriptor(b_at + k * 32)), "r"(step + k));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
    if (t == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&empty[s])) : "memory");
  }
  const int lane = t % 32, warp = t / 32;
  for (int i = 0; i < 64; ++i)
    c[size_t(row0 + (group - 1) * 64 + warp * 16 + lane / 4 + (i / 2 % 2) * 8) * n + column0 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

CUtensorMap map_of(void* matrix, int n, int rows) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  const cuuint64_t dims[] = {cuuint64_t(n), cuuint64_t(n)}, strides[] = {cuuint64_t(n) * 2};
  const cuuint32_t box[] = {kK, cuuint32_t(rows)}, steps[] = {1, 1};
  CUtensorMap map;
  const CUresult r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  expect("tensor map", r == CUDA_SUCCESS);
  return map;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 256;
  std::vector<__half> a(size_t(n) * n), b(a.size());
  const std::vector<uint32_t> r = random_words(a.size() * 2, 9);
  auto value = [&](size_t k) { return __float2half(float(int32_t(r[k]) >> 8) / float(1 << 23)); };
  for (size_t k = 0; k < a.size(); ++k) a[k] = value(k), b[k] = value(a.size() + k);
  Device<__half> da(a), db(b);
  Device<float> dc(a.size());
  const CUtensorMap map_a = map_of(da, n, kM), map_b = map_of(db, n, kN);
  const int bytes = kStages * sizeof(Stage);
  MUST(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const auto start = std::chrono::steady_clock::now();
  gemm<<<dim3(n / kN, n / kM), 384, bytes>>>(map_a, map_b, dc, n);
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
