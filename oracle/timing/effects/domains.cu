// SPDX-License-Identifier: Apache-2.0
// C7: device-scope fences of a kernel that writes its own memory, while another kernel writes the host's over PCIe:
// in the same domain, and in the remote one.
#include "effects.h"

constexpr int kFences = 256;

// `cycles`: of the first warp, from its first write to behind its last fence.
__global__ void fences(unsigned* own, long long* cycles) {
  unsigned* const mine = own + (blockIdx.x * blockDim.x + threadIdx.x);
  const long long begin = clock64();
  for (int k = 1; k <= kFences; ++k) {
    *reinterpret_cast<volatile unsigned*>(mine) = k;
    __threadfence();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}
__global__ void far_writes(uint4* host, size_t n, unsigned v) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) host[i] = {v, v, v, v};
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  constexpr size_t kBytes = 64 << 20;
  unsigned *own, *far, *far_on_device;
  long long* cycles;
  MUST(cudaMalloc(&cycles, 8));
  MUST(cudaMalloc(&own, 16 * 128 * 4)), MUST(cudaHostAlloc(&far, kBytes, cudaHostAllocMapped));
  MUST(cudaHostGetDevicePointer(&far_on_device, far, 0));
  cudaStream_t a, b;
  MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)), MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  unsigned v = 0;
  const auto write = [&](cudaLaunchMemSyncDomain d) {
    cudaLaunchAttribute at{};
    at.id = cudaLaunchAttributeMemSyncDomain, at.val.memSyncDomain = d;
    cudaLaunchConfig_t c{};
    c.gridDim = 32, c.blockDim = 256, c.stream = b, c.attrs = &at, c.numAttrs = 1;
    MUST(cudaLaunchKernelEx(&c, far_writes, reinterpret_cast<uint4*>(far_on_device), kBytes / 16, ++v));
  };
  const auto beside = [&](bool writes, cudaLaunchMemSyncDomain d) {
    return microseconds(a, [&] {
      if (writes) write(d);
      delay<><<<1, 1, 0, a>>>(200000);  // until the writes are under way
      fences<<<16, 128, 0, a>>>(own, cycles);
    });
  };
  tell("delay_only", microseconds(a, [&] { delay<><<<1, 1, 0, a>>>(200000); }));
  tell("writes_alone", microseconds(b, [&] { write(cudaLaunchMemSyncDomainDefault); }));
  const auto told = [&](const char* name, bool writes, cudaLaunchMemSyncDomain d) {
    tell(name, beside(writes, d));
    long long n = 0;
    MUST(cudaDeviceSynchronize()), MUST(cudaMemcpy(&n, cycles, 8, cudaMemcpyDeviceToHost));
    std::printf("%s_cycles %lld\n", name, n);
  };
  told("fences_alone", false, cudaLaunchMemSyncDomainDefault);
  told("fences_beside_same_domain", true, cudaLaunchMemSyncDomainDefault);
  told("fences_beside_other_domain", true, cudaLaunchMemSyncDomainRemote);
  MUST(cudaDeviceSynchronize());
  for (size_t i = 0; i < kBytes / 4; i += 1009) check(far[i] == v, "words of the host");
  std::vector<unsigned> got(16 * 128);
  MUST(cudaMemcpy(got.data(), own, got.size() * 4, cudaMemcpyDeviceToHost));
  for (unsigned g : got) check(g == kFences, "own words");
  std::puts("ok");
}
