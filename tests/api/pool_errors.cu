// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Memory pools: properties, attributes, access, use after free, refusals.
#include "cu.h"

cudaMemPoolProps usual() {
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location.type = cudaMemLocationTypeDevice;
  return p;
}

void creation() {
  cudaMemPool_t pool;
  cudaMemPoolProps p = usual();
  SHOW(cudaMemPoolCreate(nullptr, &p));
  SHOW(cudaMemPoolCreate(&pool, nullptr));
  p.allocType = cudaMemAllocationTypeInvalid;
  SHOW(cudaMemPoolCreate(&pool, &p));
  p = usual();
  p.location.id = 99;
  SHOW(cudaMemPoolCreate(&pool, &p));
  p.location.id = -1;
  SHOW(cudaMemPoolCreate(&pool, &p));
  p = usual();
  p.location.type = cudaMemLocationTypeInvalid;
  SHOW(cudaMemPoolCreate(&pool, &p));
  p = usual();
  p.handleTypes = static_cast<cudaMemAllocationHandleType>(2);
  SHOW(cudaMemPoolCreate(&pool, &p));
  p = usual();
  p.maxSize = size_t{1} << 20;
  SHOW(cudaMemPoolCreate(&pool, &p));
  void *a = nullptr, *b = nullptr;
  SHOW(cudaMallocFromPoolAsync(&a, size_t{1} << 20, pool, nullptr));
  SHOW(cudaMallocFromPoolAsync(&b, size_t{64} << 20, pool, nullptr));
  SHOW(cudaFreeAsync(a, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemPoolDestroy(pool));
  SHOW(cudaMemPoolDestroy(nullptr));
  SHOW(cudaGetLastError());
}

void attributes() {
  cudaMemPool_t pool;
  cudaMemPoolProps p = usual();
  MUST(cudaMemPoolCreate(&pool, &p));
  for (int a : {1, 2, 3}) {
    int v = 9;
    std::printf("attribute %d: get %d", a, cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    std::printf(" %d", v);
    v = 0;
    std::printf(" set %d", cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    v = 9;
    std::printf(" get %d", cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    std::printf(" %d\n", v);
  }
  for (int a : {0, 4, 5, 6, 7, 8, 9, 100}) {
    cuuint64_t v = 9;
    std::printf("attribute %d: get %d", a, cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    std::printf(" %llu", static_cast<unsigned long long>(v));
    v = 0;
    std::printf(" set 0 %d", cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    v = 4096;
    std::printf(" set 4096 %d", cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    v = 9;
    std::printf(" get %d", cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(a), &v));
    std::printf(" %llu\n", static_cast<unsigned long long>(v));
  }
  void *a = nullptr, *b = nullptr;
  cuuint64_t v = 0;
  const auto used = [&](const char* what) {
    std::printf("%-30s", what);
    for (int k : {5, 6, 7, 8}) {
      cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(k), &v);
      std::printf(" %llu", static_cast<unsigned long long>(v));
    }
    std::printf("\n");
  };
  v = 0;
  MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &v));
  used("new");
  SHOW(cudaMallocFromPoolAsync(&a, 1000, pool, nullptr));
  used("1000");
  SHOW(cudaMallocFromPoolAsync(&b, 1 << 20, pool, nullptr));
  used("and 1 MB");
  SHOW(cudaFreeAsync(a, nullptr));
  SHOW(cudaDeviceSynchronize());
  used("1000 free");
  SHOW(cudaFreeAsync(b, nullptr));
  used("all free, not synchronised");
  SHOW(cudaDeviceSynchronize());
  used("all free");
  SHOW(cudaMemPoolTrimTo(pool, 0));
  used("trimmed");
  SHOW(cudaMemPoolTrimTo(nullptr, 0));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, nullptr));
  SHOW(cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &v));
  SHOW(cudaMemPoolDestroy(pool));
  SHOW(cudaGetLastError());
}

void access() {
  cudaMemPool_t pool;
  cudaMemPoolProps p = usual();
  MUST(cudaMemPoolCreate(&pool, &p));
  cudaMemAccessFlags f = static_cast<cudaMemAccessFlags>(9);
  cudaMemLocation where = p.location;
  SHOW(cudaMemPoolGetAccess(&f, pool, &where));
  VALUE(f);
  cudaMemAccessDesc d = {};
  d.location = where;
  for (int flags : {3, 1, 0, 2, 9}) {
    d.flags = static_cast<cudaMemAccessFlags>(flags);
    std::printf("access %d: %d", flags, cudaMemPoolSetAccess(pool, &d, 1));
    std::printf(" %d", cudaMemPoolGetAccess(&f, pool, &where));
    std::printf(" %d\n", f);
  }
  d.flags = cudaMemAccessFlagsProtReadWrite;
  d.location.id = 99;
  SHOW(cudaMemPoolSetAccess(pool, &d, 1));
  SHOW(cudaMemPoolSetAccess(pool, &d, 0));
  SHOW(cudaMemPoolSetAccess(pool, nullptr, 0));
  SHOW(cudaMemPoolDestroy(pool));
  SHOW(cudaGetLastError());
}

void use() {
  void *p = nullptr, *q = nullptr;
  int host = 0;
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  SHOW(cudaMallocAsync(nullptr, 16, s));
  SHOW(cudaMallocAsync(&p, size_t{1} << 60, s));
  SHOW(cudaMallocAsync(&p, 16, s));
  SHOW(cudaFreeAsync(&host, s));
  SHOW(cudaFreeAsync(static_cast<char*>(p) + 4, s));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaFree(p));
  SHOW(cudaMalloc(&q, 16));
  SHOW(cudaFreeAsync(q, s));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaFree(q));
  MUST(cudaMallocHost(&q, 16));
  SHOW(cudaFreeAsync(q, s));
  MUST(cudaFreeHost(q));
  MUST(cudaMallocManaged(&q, 16));
  SHOW(cudaFreeAsync(q, s));
  cudaGetLastError();
  SHOW(cudaMallocAsync(&p, 16, s));
  CUmemoryPool told;
  CU(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, reinterpret_cast<CUdeviceptr>(p)));
  cudaMemPool_t usual_pool;
  MUST(cudaDeviceGetDefaultMemPool(&usual_pool, 0));
  VALUE(told == usual_pool);
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaDeviceGetDefaultMemPool(nullptr, 0));
  SHOW(cudaDeviceGetDefaultMemPool(&usual_pool, 99));
  SHOW(cudaDeviceGetMemPool(nullptr, 0));
  SHOW(cudaDeviceSetMemPool(0, nullptr));
  SHOW(cudaDeviceSetMemPool(99, usual_pool));
  cudaMemPool_t own;
  cudaMemPoolProps props = usual();
  MUST(cudaMemPoolCreate(&own, &props));
  SHOW(cudaMallocFromPoolAsync(&p, 0, own, s));
  SHOW(cudaMallocFromPoolAsync(&p, 64, nullptr, s));
  SHOW(cudaMallocFromPoolAsync(&p, 64, own, s));
  SHOW(cudaMemPoolDestroy(own));  // the memory stays
  SHOW(cudaMemsetAsync(p, 0, 64, s));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaGetLastError());
  CUdeviceptr d = 0;
  CU(cuMemAllocAsync(&d, 0, nullptr));
  CU(cuMemAllocAsync(nullptr, 16, nullptr));
  CU(cuMemFreeAsync(0, nullptr));
  CU(cuMemAllocFromPoolAsync(&d, 16, nullptr, nullptr));
  CU(cuMemPoolDestroy(nullptr));
  CU(cuMemPoolTrimTo(nullptr, 0));
  CU(cuDeviceGetMemPool(nullptr, 0));
  CU(cuDeviceGetDefaultMemPool(nullptr, 0));
}

int main() {
  MUST(cudaFree(nullptr));
  creation();
  attributes();
  access();
  use();
  return 0;
}
