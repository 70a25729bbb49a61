// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation: the default pool, pools of one's own, what they count.
#include <vector>

#include "api.h"

__global__ void fill(int* p, int n, int v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v + i;
}

unsigned long long attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  unsigned long long v = ~0ull;
  if (cudaMemPoolGetAttribute(pool, which, &v) != cudaSuccess) std::printf("attribute %d: error %d\n", which, cudaGetLastError());
  return v;
}

int main() {
  constexpr int n = 1 << 20;
  cudaStream_t s;
  cudaMemPool_t pool, now, own;
  MUST(cudaStreamCreate(&s));
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
  SHOW(cudaDeviceGetMemPool(&now, 0));
  VALUE(now == pool);
  VALUE(attribute(pool, cudaMemPoolAttrReleaseThreshold));
  VALUE(attribute(pool, cudaMemPoolAttrUsedMemCurrent));
  int *p = nullptr, *q = nullptr;
  SHOW(cudaMallocAsync(&p, n * sizeof(int), s));
  VALUE(attribute(pool, cudaMemPoolAttrUsedMemCurrent));
  fill<<<n / 256, 256, 0, s>>>(p, n, 3);
  std::vector<int> host(n);
  SHOW(cudaMemcpyAsync(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, s));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaMallocAsync(&q, 100, s));
  SHOW(cudaFreeAsync(q, s));
  SHOW(cudaStreamSynchronize(s));
  VALUE(host[0]);
  VALUE(host[n - 1]);
  VALUE(attribute(pool, cudaMemPoolAttrUsedMemCurrent));
  VALUE(attribute(pool, cudaMemPoolAttrUsedMemHigh) >= n * sizeof(int));
  cudaPointerAttributes a = {};
  MUST(cudaMallocAsync(&p, 4096, s));
  SHOW(cudaPointerGetAttributes(&a, p));
  VALUE(a.type);
  SHOW(cudaFree(p));
  MUST(cudaMalloc(&p, 4096));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaMallocAsync(&p, 0, s));
  SHOW(cudaFreeAsync(nullptr, s));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaGetLastError());

  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = 0;
  SHOW(cudaMemPoolCreate(&own, &props));
  unsigned long long threshold = ~0ull;
  SHOW(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  VALUE(attribute(own, cudaMemPoolAttrReleaseThreshold) == ~0ull);
  SHOW(cudaMallocFromPoolAsync(&p, 1000, own, s));
  VALUE(attribute(own, cudaMemPoolAttrUsedMemCurrent));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaStreamSynchronize(s));
  VALUE(attribute(own, cudaMemPoolAttrUsedMemCurrent));
  SHOW(cudaMemPoolTrimTo(own, 0));
  VALUE(attribute(own, cudaMemPoolAttrReservedMemCurrent));
  SHOW(cudaDeviceSetMemPool(0, own));
  SHOW(cudaDeviceGetMemPool(&now, 0));
  VALUE(now == own);
  SHOW(cudaMemPoolDestroy(own));
  SHOW(cudaMemPoolDestroy(pool));
  SHOW(cudaGetLastError());
  return 0;
}
