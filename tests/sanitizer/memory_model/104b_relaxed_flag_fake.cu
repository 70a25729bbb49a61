// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// Relaxed, with a fence on either side.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    FENCE("acq_rel.gpu");
    STORE("relaxed.gpu", flag, 1);
  } else {
    int seen = 0;
    while (!seen) LOAD(seen, "relaxed.gpu", flag);
    FENCE("acq_rel.gpu");
    *out = *data;
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
