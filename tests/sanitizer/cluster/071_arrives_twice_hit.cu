// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 71
// Threads arrive twice at the cluster barrier without a wait between.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  CLUSTER_ARRIVE();
  CLUSTER_ARRIVE();  // expect: cluster-barrier
  CLUSTER_WAIT();
  out[blockIdx.x] = 1;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
