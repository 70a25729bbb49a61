// SPDX-License-Identifier: Apache-2.0
// What the experiments outside pipeline/ share: two sizes, device times, one line for each variant, tensor maps.
//
//   --h200      the size that a real H200 needs to show anything (the default suits a CPU)
//   --no-time   prints only what is the same on every device
#pragma once
#include <cuda.h>

#include "pipeline/common.h"

namespace gallery {

struct Experiment {
  bool h200 = false, times = true, passed = true;

  Experiment(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (int i = 1; i < argc; ++i) {
      if (!std::strcmp(argv[i], "--h200")) h200 = true;
      else if (!std::strcmp(argv[i], "--no-time")) times = false;
      else std::fprintf(stderr, "usage: %s [--h200] [--no-time]\n", argv[0]), std::exit(2);
    }
  }

  // The best of several launches, in milliseconds on the device.
  template <class F>
  double time(F&& launch) const {
    cudaEvent_t start, stop;
    must(cudaEventCreate(&start), "event"), must(cudaEventCreate(&stop), "event");
    float best = 1e30f;
    for (int round = 0; round < (times ? 5 : 1); ++round) {
      must(cudaEventRecord(start), "event");
      launch();
      must(cudaGetLastError(), "launch");
      must(cudaEventRecord(stop), "event");
      must(cudaDeviceSynchronize(), "execution");
      float ms = 0;
      must(cudaEventElapsedTime(&ms, start, stop), "event");
      if (ms < best) best = ms;
    }
    cudaEventDestroy(start), cudaEventDestroy(stop);
    return best;
  }

  // bytes: moved to and from global memory, or 0.
  template <class T>
  void report(const char* name, const std::vector<T>& got, bool right, double ms, double bytes = 0) {
    std::vector<Word> words(got.size() * sizeof(T) / sizeof(Word));
    std::memcpy(words.data(), got.data(), words.size() * sizeof(Word));
    std::printf("%-36s hash %016llx  %s", name, static_cast<unsigned long long>(hash_words(words)), right ? "PASS" : "FAIL");
    if (times) std::printf("  %9.4f ms", ms);
    if (times && bytes > 0) std::printf("  %7.1f GB/s", bytes / ms * 1e-6);
    std::printf("\n");
    passed &= right;
  }

  int finish() const { return verdict(passed); }
};

// A tensor of 32-bit words; dims and box from the innermost dimension, strides in bytes.
template <size_t kRank>
CUtensorMap tensor_map(void* data, const cuuint64_t (&dims)[kRank], const cuuint64_t (&strides)[kRank], const cuuint32_t (&box)[kRank],
                       CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32) {
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found), "cuTensorMapEncodeTiled");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  cuuint32_t steps[kRank];
  for (auto& step : steps) step = 1;
  CUtensorMap map;
  const CUresult result = encode(&map, type, kRank, data, dims, strides + 1, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("FAIL: tensor map: %d\n", int(result)), std::exit(1);
  return map;
}

// Raw mbarriers and bulk copies.
__device__ inline uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ inline void init_mbarrier(uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ inline void wait_mbarrier(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}
__device__ inline void load_tile(void* to, const CUtensorMap* map, int x, int y, uint64_t* bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)) : "memory");
}
__device__ inline void load_tile(void* to, const CUtensorMap* map, int x, int y, int z, uint64_t* bar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
                   shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(bar)) : "memory");
}

}  // namespace gallery
