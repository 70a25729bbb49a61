// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 102
// needs: 2 devices
// With a fence of system scope.
#include "../twin.h"

__global__ void writer(int* data, int* flag) {
  *data = 42;
  FENCE("acq_rel.sys");
  STORE("relaxed.sys", flag, 1);
}

__global__ void reader(int* data, int* flag, int* out) {
  int seen = 0;
  while (!seen) LOAD(seen, "acquire.sys", flag);
  *out = *data;
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  must(cudaSetDevice(1), "the second device");
  must(cudaDeviceEnablePeerAccess(0, 0), "peer access");
  writer<<<1, 1>>>(data, flag);
  must(cudaGetLastError(), "launch");
  must(cudaSetDevice(0), "the first device");
  reader<<<1, 1>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
