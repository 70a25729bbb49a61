// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 71
// Each arrival has its wait.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  out[blockIdx.x] = 1;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int) { return 1; });
}
