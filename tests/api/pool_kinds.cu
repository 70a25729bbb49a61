// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Memory pools that are not a device's own: of the host, of a NUMA node, of managed memory. What can be made, what
// comes out of it, who may touch it.
#include "cu.h"

namespace {

CUstream stream;

const char* kind_name(int type) {
  return type == CU_MEM_ALLOCATION_TYPE_PINNED ? "pinned" : type == CU_MEM_ALLOCATION_TYPE_MANAGED ? "managed" : "invalid";
}
const char* place_name(int type) {
  const char* names[] = {"none", "device", "host", "host numa", "host numa current"};
  return names[type];
}

__global__ void fill(unsigned* p, unsigned v) { p[threadIdx.x] = v + threadIdx.x; }

void attributes(CUdeviceptr p) {
  int type = -1, managed = -1, ordinal = -7, mapped = -1;
  void *host = nullptr, *device = nullptr;
  CUmemoryPool pool = nullptr;
  CUcontext context = nullptr;
  const int codes[] = {cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
                       cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p),
                       cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p),
                       cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, p),
                       cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
                       cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p),
                       cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p),
                       cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p)};
  std::printf("  type %d managed %d ordinal %d mapped %d host %d device %d pool %d context %d, codes", type, managed,
              ordinal, mapped, host == reinterpret_cast<void*>(p), device == reinterpret_cast<void*>(p), pool != nullptr,
              context != nullptr);
  for (int c : codes) std::printf(" %d", c);
  std::printf("\n");
  cudaPointerAttributes a{};
  const cudaError_t e = cudaPointerGetAttributes(&a, reinterpret_cast<void*>(p));
  std::printf("  runtime: %d type %d device %d host %d device %d\n", e, a.type, a.device,
              a.hostPointer == reinterpret_cast<void*>(p), a.devicePointer == reinterpret_cast<void*>(p));
}

void rights(CUmemoryPool pool) {
  for (int type : {1, 2, 3}) {
    CUmemLocation where{static_cast<CUmemLocationType>(type), {0}};
    CUmemAccess_flags flags{};
    const CUresult e = cuMemPoolGetAccess(&flags, pool, &where);
    std::printf("  access of %s: %d flags %d\n", place_name(type), e, e ? 0 : flags);
  }
}

void use(CUmemoryPool pool, bool of_host) {
  CUdeviceptr p = 0;
  unsigned got[32] = {};
  CU(cuMemAllocFromPoolAsync(&p, 1000, pool, stream));
  if (!p) return;
  CU(cuStreamSynchronize(stream));
  attributes(p);
  rights(pool);
  CUmemAccessDesc d{{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CU(cuMemPoolSetAccess(pool, &d, 1));
  rights(pool);
  CU(cuMemsetD32Async(p, 77, 32, stream));
  CU(cuMemcpyDtoHAsync(got, p, sizeof got, stream));
  CU(cuStreamSynchronize(stream));
  std::printf("  %u %u\n", got[0], got[31]);
  fill<<<1, 32, 0, stream>>>(reinterpret_cast<unsigned*>(p), 5);
  CU(cuStreamSynchronize(stream));
  if (of_host) std::printf("  %u %u\n", reinterpret_cast<unsigned*>(p)[0], reinterpret_cast<unsigned*>(p)[31]);
  CU(cuMemcpyDtoH(got, p, sizeof got));
  std::printf("  %u %u\n", got[0], got[31]);
  for (int a : {1, 2, 3, 4, 6, 8}) {
    cuuint64_t v = 0;
    const CUresult e = cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(a), &v);
    std::printf("  attribute %d: %d %llu\n", a, e, static_cast<unsigned long long>(a < 4 ? v & 0xffffffff : v));
  }
  CU(cuMemFreeAsync(p, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuMemPoolTrimTo(pool, 0));
}

void made() {
  for (int kind : {1, 2})
    for (int place : {0, 1, 2, 3, 4}) {
      CUmemoryPool pool = nullptr;
      CUmemPoolProps p{};
      p.allocType = static_cast<CUmemAllocationType>(kind);
      p.location.type = static_cast<CUmemLocationType>(place);
      std::printf("-- %s, %s\n", kind_name(kind), place_name(place));
      CU(cuMemPoolCreate(&pool, &p));
      if (pool) {
        use(pool, kind == 2 || place > 1);
        CU(cuMemPoolDestroy(pool));
      }
      pool = nullptr;
      p.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
      CU(cuMemPoolCreate(&pool, &p));
      if (pool) CU(cuMemPoolDestroy(pool));
      pool = nullptr;
      p.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
      p.maxSize = size_t{64} << 20;
      CU(cuMemPoolCreate(&pool, &p));
      if (pool) CU(cuMemPoolDestroy(pool));
      pool = nullptr;
      p.maxSize = 0;
      p.location.id = 999;
      CU(cuMemPoolCreate(&pool, &p));
      if (pool) CU(cuMemPoolDestroy(pool));
    }
}

void standard() {
  for (int kind : {1, 2})
    for (int place : {0, 1, 2, 3, 4}) {
      CUmemoryPool pool = nullptr, now = nullptr, own = nullptr;
      CUmemLocation where{static_cast<CUmemLocationType>(place), {0}};
      const auto type = static_cast<CUmemAllocationType>(kind);
      std::printf("-- the default of %s, %s\n", kind_name(kind), place_name(place));
      CU(cuMemGetDefaultMemPool(&pool, &where, type));
      CU(cuMemGetMemPool(&now, &where, type));
      VALUE(pool == now);
      if (!pool) continue;
      rights(pool);
      CU(cuMemPoolDestroy(pool));
      CUmemPoolProps p{};
      p.allocType = type;
      p.location = where;
      CU(cuMemPoolCreate(&own, &p));
      if (!own) continue;
      CU(cuMemSetMemPool(&where, type, own));
      CU(cuMemGetMemPool(&now, &where, type));
      VALUE(now == own);
      CU(cuMemPoolDestroy(own));
      CUdeviceptr q = 0;  // what is current now is left open: the destroyed pool's handle was seen
      CU(cuMemAllocFromPoolAsync(&q, 4096, pool, stream));
      CU(cuMemFreeAsync(q, stream));
      CU(cuStreamSynchronize(stream));
    }
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  MUST(cudaFree(nullptr));
  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  made();
  standard();
  SHOW(cudaDeviceSynchronize());
  return 0;
}
