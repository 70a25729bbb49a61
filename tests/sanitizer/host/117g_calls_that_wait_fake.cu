// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 117
// options: --host-pages
// Managed memory is set and copied by calls that wait, before the host and kernels use it in turn.
#include "../twin.h"

__global__ void add(int* p, const int* q) { p[threadIdx.x] += q[threadIdx.x]; }

int main() {
  int *p, *q, *plain = iota(64);
  must(cudaMallocManaged(&p, 256), "cudaMallocManaged");
  must(cudaMallocManaged(&q, 256), "cudaMallocManaged");
  must(cudaMemset(p, 0, 256), "cudaMemset");
  p[3] = 100;
  must(cudaMemcpy(q, plain, 256, cudaMemcpyDefault), "cudaMemcpy");
  q[4] += 1;
  add<<<1, 64>>>(p, q);
  must(cudaDeviceSynchronize(), "sync");
  p[5]++;
  add<<<1, 64>>>(p, q);
  int host[64];
  must(cudaMemcpy(host, p, 256, cudaMemcpyDefault), "cudaMemcpy");
  bool good = true;
  for (int i = 0; i < 64; ++i) {
    const int want = 2 * (i + (i == 4)) + (i == 3 ? 100 : 0) + (i == 5);
    good &= host[i] == want && p[i] == want;
  }
  return verdict(good);
}
