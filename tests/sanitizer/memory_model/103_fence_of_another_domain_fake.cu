// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 103
// covers: A12, C7
// Fences of system scope order across domains.
#include "../twin.h"

__global__ void writer(int* data, int* flag) {
  *data = 42;
  FENCE("acq_rel.sys");
  STORE("relaxed.sys", flag, 1);
}

__global__ void reader(int* data, int* flag, int* out) {
  int seen = 0;
  while (!seen) LOAD(seen, "relaxed.sys", flag);
  FENCE("acq_rel.sys");
  *out = *data;
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaLaunchAttribute domain = {};
  domain.id = cudaLaunchAttributeMemSyncDomain;
  domain.val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  config.stream = one;
  config.attrs = &domain;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, writer, data, flag), "launch");
  reader<<<1, 1, 0, two>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
