// SPDX-License-Identifier: Apache-2.0
// The same rings with the C primitives: copies of 4, 8 and 16 bytes, zero fill, wait_prior, and arrival on an mbarrier.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

#include "structures.cuh"

using namespace gallery;

namespace {

// Each thread copies its own kBytes; one commit per tile, empty ones at the end so that wait_prior keeps its meaning.
template <int kStages, int kBytes>
__global__ void copy_ring(Job job) {
  alignas(16) extern __shared__ Word slots[];
  constexpr int kWords = kBytes / 4;
  const int size = blockDim.x * kWords, mine = threadIdx.x * kWords;
  const auto start_copy = [&](int batch) {
    if (batch < job.batches)
      __pipeline_memcpy_async(slots + batch % kStages * size + mine, job.in + tile_start(batch, size) + mine, kBytes);
    __pipeline_commit();
  };
  for (int batch = 0; batch < kStages - 1; ++batch) start_copy(batch);
  for (int batch = 0; batch < job.batches; ++batch) {
    start_copy(batch + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    work(job, batch, slots + batch % kStages * size, size, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

// Thread t's 16 bytes end with t % 17 zeros.
__global__ void zero_fill(Job job) {
  alignas(16) extern __shared__ Word slots[];
  const int size = blockDim.x * 4, mine = threadIdx.x * 4;
  for (int batch = 0; batch < job.batches; ++batch) {
    for (int i = 0; i < 4; ++i) slots[mine + i] = 0xDEADBEEF;
    __pipeline_memcpy_async(slots + mine, job.in + tile_start(batch, size) + mine, 16, threadIdx.x % 17);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    work(job, batch, slots, size, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

void prepare_zero_fill(std::vector<Word>& in, int tile) {
  unsigned char* bytes = reinterpret_cast<unsigned char*>(in.data());
  for (size_t chunk = 0; chunk < in.size() / 4; ++chunk)
    for (int k = 0, zeros = int(chunk % (tile / 4)) % 17; k < zeros; ++k) bytes[chunk * 16 + 15 - k] = 0;
}

// arrive_on leaves the number of expected arrivals as it is, so every thread also arrives for itself.
template <int kStages>
__global__ void arrive_on(Job job) {
  alignas(16) extern __shared__ Word slots[];
  __shared__ __mbarrier_t landed[kStages];
  __mbarrier_token_t tokens[kStages];
  const int size = blockDim.x, me = threadIdx.x;
  if (me < kStages) __mbarrier_init(&landed[me], size);
  __syncthreads();
  int fetched = 0;
  for (int first = 0; first < job.batches; first += kStages) {
#pragma unroll
    for (int s = 0; s < kStages; ++s, ++fetched) {
      if (fetched < job.batches) __pipeline_memcpy_async(slots + s * size + me, job.in + tile_start(fetched, size) + me, 4);
      __pipeline_arrive_on(&landed[s]);
      tokens[s] = __mbarrier_arrive(&landed[s]);
    }
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      while (!__mbarrier_test_wait(&landed[s], tokens[s])) {}
      if (first + s < job.batches) work(job, first + s, slots + s * size, size, me, size);
    }
    __syncthreads();
  }
}

template <int kBytes>
const Kernel kCopyRings[] = {copy_ring<1, kBytes>, copy_ring<2, kBytes>, copy_ring<3, kBytes>, copy_ring<4, kBytes>,
                             copy_ring<5, kBytes>, copy_ring<6, kBytes>, copy_ring<7, kBytes>, copy_ring<8, kBytes>};

}  // namespace

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.times = false;
  const Sizes sizes = parse_sizes(argc, argv, defaults);
  const int t = sizes.threads;
  bool passed = true;
  for (int stages = 1; stages <= kMaxStages; ++stages) {
    if (sizes.stages && sizes.stages != stages) continue;
    passed &= run_case({"primitives, 4 bytes", kCopyRings<4>[stages - 1], stages, t, size_t(stages) * t}, sizes);
    passed &= run_case({"primitives, 8 bytes", kCopyRings<8>[stages - 1], stages, 2 * t, size_t(stages) * t * 2}, sizes);
    if (stages * t * 16 <= 48 * 1024)
      passed &= run_case({"primitives, 16 bytes", kCopyRings<16>[stages - 1], stages, 4 * t, size_t(stages) * t * 4}, sizes);
  }
  passed &= run_case({"zero fill", zero_fill, 1, 4 * t, size_t(4) * t, prepare_zero_fill}, sizes);
  passed &= run_case({"arrive on an mbarrier", arrive_on<1>, 1, t, size_t(t)}, sizes);
  passed &= run_case({"arrive on an mbarrier", arrive_on<3>, 3, t, size_t(3) * t}, sizes);
  return verdict(passed);
}
