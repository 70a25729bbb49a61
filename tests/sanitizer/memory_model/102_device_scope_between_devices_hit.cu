// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 102
// needs: 2 devices
// A kernel of another device publishes data with a fence of device scope.
#include "../twin.h"

__global__ void writer(int* data, int* flag) {
  *data = 42;  // expect: race-scope A
  FENCE("acq_rel.gpu");
  STORE("relaxed.sys", flag, 1);
}

__global__ void reader(int* data, int* flag, int* out) {
  int seen = 0;
  while (!seen) LOAD(seen, "acquire.sys", flag);
  *out = *data;  // expect: race-scope B
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  must(cudaSetDevice(1), "the second device");
  must(cudaDeviceEnablePeerAccess(0, 0), "peer access");
  writer<<<1, 1>>>(data, flag);
  must(cudaGetLastError(), "launch");
  must(cudaSetDevice(0), "the first device");
  reader<<<1, 1>>>(data, flag, out);
  return ended();
}
