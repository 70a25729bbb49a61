// SPDX-License-Identifier: Apache-2.0
// A warp-specialised ring on raw mbarriers: warp 0 issues cp.async copies, the other warps work.
//
//   full[s]   32 arrivals: one per copying lane, made by the copies themselves (cp.async.mbarrier.arrive.noinc)
//   empty[s]  one arrival per working thread
//
// Each side follows the phases by parity: use n of a slot waits for phase parity n & 1 of `full`, and for the opposite
// one of `empty` (the phase before the first is taken as complete).
#include "structures.cuh"

using namespace gallery;

namespace {

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ void init_barrier(uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ void arrive(uint64_t* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void wait_parity(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@done bra finished;\n"
      "bra again;\n"
      "finished:\n"
      "}\n" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

template <int kBytes>
__device__ void copy(Word* to, const Word* from) {
  if constexpr (kBytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(kBytes) : "memory");
}

__device__ void copies_arrive(uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

template <int kStages, int kBytes>
__global__ void mbarrier_ring(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  constexpr int kWords = kBytes / 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, workers = blockDim.x - 32, size = workers * kWords;
  if (threadIdx.x < kStages) init_barrier(&full[threadIdx.x], 32), init_barrier(&empty[threadIdx.x], workers);
  __syncthreads();
  for (int batch = 0; batch < job.batches; ++batch) {
    const int s = batch % kStages, parity = batch / kStages & 1;
    Word* slot = slots + s * size;
    if (warp == 0) {
      wait_parity(&empty[s], parity ^ 1);
      const Word* from = job.in + tile_start(batch, size);
      for (int i = lane * kWords; i < size; i += 32 * kWords) copy<kBytes>(slot + i, from + i);
      copies_arrive(&full[s]);
    } else {
      wait_parity(&full[s], parity);
      work(job, batch, slot, size, threadIdx.x - 32, workers);
      arrive(&empty[s]);
    }
  }
}

template <int kBytes>
const Kernel kMbarrierRings[] = {mbarrier_ring<1, kBytes>, mbarrier_ring<2, kBytes>, mbarrier_ring<3, kBytes>, mbarrier_ring<4, kBytes>,
                                 mbarrier_ring<5, kBytes>, mbarrier_ring<6, kBytes>, mbarrier_ring<7, kBytes>, mbarrier_ring<8, kBytes>};

}  // namespace

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.threads = 160, defaults.times = false;
  const Sizes sizes = parse_sizes(argc, argv, defaults);
  if (sizes.threads % 32 || sizes.threads < 64) std::printf("--threads: whole warps, at least two\n"), std::exit(2);
  const int workers = sizes.threads - 32;
  bool passed = true;
  for (int stages = 1; stages <= kMaxStages; ++stages) {
    if (sizes.stages && sizes.stages != stages) continue;
    passed &= run_case({"mbarrier ring, 4 bytes", kMbarrierRings<4>[stages - 1], stages, workers, size_t(stages) * workers}, sizes);
    if (stages * workers * 16 <= 47 * 1024)
      passed &= run_case({"mbarrier ring, 16 bytes", kMbarrierRings<16>[stages - 1], stages, 4 * workers, size_t(4) * stages * workers}, sizes);
  }
  return verdict(passed);
}
