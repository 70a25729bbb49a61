// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 103
// covers: A12
// Two launches of one domain: a fence of device scope is enough.
#include "../twin.h"

__global__ void writer(int* data, int* flag) {
  *data = 42;
  FENCE("acq_rel.gpu");
  STORE("relaxed.gpu", flag, 1);
}

__global__ void reader(int* data, int* flag, int* out) {
  int seen = 0;
  while (!seen) LOAD(seen, "acquire.gpu", flag);
  *out = *data;
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  writer<<<1, 1, 0, one>>>(data, flag);
  reader<<<1, 1, 0, two>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
