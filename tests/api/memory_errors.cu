// SPDX-License-Identifier: Apache-2.0
// Allocation and release: what is refused, and what an address says about itself.
#include <vector>

#include "api.h"

__device__ int variable[4];

void describe(const char* what, const void* p, const void* base) {
  cudaPointerAttributes a = {};
  const cudaError_t e = cudaPointerGetAttributes(&a, p);
  const auto offset = [&](const void* q) { return q ? static_cast<long long>(static_cast<const char*>(q) - static_cast<const char*>(base)) : -1; };
  std::printf("%-20s %d type %d device %d devicePointer %lld hostPointer %lld\n", what, e, a.type, a.device, offset(a.devicePointer), offset(a.hostPointer));
}

int main() {
  char *d = nullptr, *h = nullptr, *m = nullptr, *mapped = nullptr;
  void* p = &p;
  SHOW(cudaMalloc(&p, 0));
  VALUE(p == nullptr);
  SHOW(cudaMalloc(nullptr, 16));
  SHOW(cudaMallocManaged(&m, 0));
  SHOW(cudaMallocManaged(&m, 16, 8));
  SHOW(cudaMalloc(&p, size_t{1} << 60));
  SHOW(cudaGetLastError());
  SHOW(cudaMalloc(&d, 4096));
  SHOW(cudaMallocHost(&h, 4096));
  SHOW(cudaMallocManaged(&m, 4096));
  SHOW(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
  VALUE(reinterpret_cast<size_t>(d) % 512);
  VALUE(reinterpret_cast<size_t>(h) % 512);
  unsigned flags = 0;
  SHOW(cudaHostGetFlags(&flags, mapped));
  VALUE(flags);
  SHOW(cudaHostGetFlags(&flags, h));
  VALUE(flags);
  void* alias = nullptr;
  SHOW(cudaHostGetDevicePointer(&alias, mapped, 0));
  VALUE(alias == mapped);
  SHOW(cudaHostGetDevicePointer(&alias, d, 0));

  void* symbol = nullptr;
  MUST(cudaGetSymbolAddress(&symbol, variable));
  std::vector<char> pageable(16384);
  describe("device", d + 100, d);
  describe("host", h + 100, h);
  describe("managed", m + 100, m);
  describe("mapped", mapped + 100, mapped);
  describe("variable", symbol, symbol);
  describe("pageable", pageable.data(), pageable.data());
  describe("null", nullptr, nullptr);
  SHOW(cudaGetLastError());

  char* page = pageable.data() + (4096 - reinterpret_cast<size_t>(pageable.data()) % 4096);
  SHOW(cudaHostRegister(page, 4096, cudaHostRegisterDefault));
  SHOW(cudaHostRegister(page, 4096, cudaHostRegisterDefault));
  SHOW(cudaHostRegister(page + 1024, 8192, cudaHostRegisterDefault));
  describe("registered", page + 8, page);
  SHOW(cudaHostUnregister(page + 8));
  SHOW(cudaHostUnregister(page));
  SHOW(cudaHostUnregister(page));
  SHOW(cudaHostRegister(page, 0, cudaHostRegisterDefault));
  SHOW(cudaHostRegister(nullptr, 4096, cudaHostRegisterDefault));
  SHOW(cudaGetLastError());

  SHOW(cudaFree(nullptr));
  SHOW(cudaFreeHost(nullptr));
  SHOW(cudaFree(d + 256));
  SHOW(cudaFree(h));
  SHOW(cudaFree(pageable.data()));
  SHOW(cudaFreeHost(d));
  SHOW(cudaFreeHost(h + 8));
  SHOW(cudaFreeHost(m));
  SHOW(cudaFree(d));
  SHOW(cudaFree(d));
  SHOW(cudaFree(m));
  SHOW(cudaFreeHost(h));
  SHOW(cudaFreeHost(h));
  SHOW(cudaFreeHost(mapped));
  SHOW(cudaGetLastError());
  size_t free_before = 0, free_now = 0, total = 0;
  MUST(cudaMemGetInfo(&free_before, &total));
  MUST(cudaMalloc(&d, size_t{256} << 20));
  MUST(cudaMemGetInfo(&free_now, &total));
  VALUE(free_before - free_now);
  MUST(cudaFree(d));
  MUST(cudaMemGetInfo(&free_now, &total));
  VALUE(free_before - free_now);
  return 0;
}
