// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 117
// options: --host-pages
// The host reads a managed variable that a kernel counts in, with and without a wait.
#include "../twin.h"

__managed__ int counter;
__global__ void count() { atomicAdd(&counter, 1); }  // expect: race-host A

int main() {
  counter = 0;
  count<<<2, 64>>>();
  const int seen = counter;  // expect: race-host B
  must(cudaDeviceSynchronize(), "sync");
  std::printf("%s\n", seen == 128 ? "ok" : "wrong");
  return 0;
}
