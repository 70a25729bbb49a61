// SPDX-License-Identifier: Apache-2.0
// Advice about managed memory, prefetches, and the attributes that a range then has.
#include "api.h"

static void tell(char* p, size_t bytes) {
  int mostly = -7, preferred = -7, last = -7, by[3] = {-7, -7, -7}, type = -7;
  SHOW(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, p, bytes));
  SHOW(cudaMemRangeGetAttribute(&preferred, sizeof preferred, cudaMemRangeAttributePreferredLocation, p, bytes));
  SHOW(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, p, bytes));
  SHOW(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, bytes));
  SHOW(cudaMemRangeGetAttribute(&type, sizeof type, cudaMemRangeAttributePreferredLocationType, p, bytes));
  std::printf("  mostly %d preferred %d last %d by %d %d %d type %d\n", mostly, preferred, last, by[0], by[1], by[2], type);
 
}

int main() {
  const size_t half = 1 << 20, all = 2 * half;
  char* p;
  MUST(cudaMallocManaged(&p, all));
  cudaMemLocation device = {}, host = {}, bad = {};
  device.type = cudaMemLocationTypeDevice;
  device.id = 0;
  host.type = cudaMemLocationTypeHost;
  bad.type = cudaMemLocationTypeDevice;
  bad.id = 77;
  tell(p, all);
  SHOW(cudaMemAdvise(p, half, cudaMemAdviseSetReadMostly, device));
  SHOW(cudaMemAdvise(p, all, cudaMemAdviseSetPreferredLocation, device));
  SHOW(cudaMemAdvise(p + half, half, cudaMemAdviseSetAccessedBy, device));
  tell(p, all);
  tell(p, half);
  tell(p + half, half);
  SHOW(cudaMemAdvise(p, half, cudaMemAdviseSetPreferredLocation, host));
  SHOW(cudaMemAdvise(p, half, cudaMemAdviseUnsetReadMostly, device));
  SHOW(cudaMemAdvise(p, half, cudaMemAdviseSetAccessedBy, host));
  SHOW(cudaMemPrefetchAsync(p, all, device, 0, nullptr));
  SHOW(cudaMemPrefetchAsync(p, half, host, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  tell(p, half);
  tell(p, all);
  SHOW(cudaMemAdvise(p, all, cudaMemAdviseUnsetPreferredLocation, device));
  SHOW(cudaMemAdvise(p, all, cudaMemAdviseUnsetAccessedBy, device));
  tell(p + half, half);

  SHOW(cudaMemAdvise(p, all, static_cast<cudaMemoryAdvise>(44), device));
  SHOW(cudaMemAdvise(p, all, cudaMemAdviseSetAccessedBy, bad));
  SHOW(cudaMemAdvise(p, 0, cudaMemAdviseSetAccessedBy, device));
  SHOW(cudaMemAdvise(p, all + 65536, cudaMemAdviseSetReadMostly, device));
  SHOW(cudaMemPrefetchAsync(p, all, bad, 0, nullptr));
  SHOW(cudaMemPrefetchAsync(p, all, device, 1, nullptr));
  SHOW(cudaMemPrefetchAsync(p, 0, device, 0, nullptr));
  void* d;
  MUST(cudaMalloc(&d, 4096));
  SHOW(cudaMemPrefetchAsync(d, 4096, device, 0, nullptr));
  SHOW(cudaMemAdvise(d, 4096, cudaMemAdviseSetReadMostly, device));
  int v = 0;
  SHOW(cudaMemRangeGetAttribute(&v, sizeof v, cudaMemRangeAttributeReadMostly, d, 4096));
  SHOW(cudaMemRangeGetAttribute(&v, 2, cudaMemRangeAttributeReadMostly, p, all));
  SHOW(cudaMemRangeGetAttribute(&v, sizeof v, static_cast<cudaMemRangeAttribute>(99), p, all));
  SHOW(cudaGetLastError());
  return 0;
}
