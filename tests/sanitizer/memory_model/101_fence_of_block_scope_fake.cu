// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 101
// covers: C3
// A fence of device scope.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    FENCE("acq_rel.gpu");
    STORE("relaxed.gpu", flag, 1);
  } else {
    int seen = 0;
    while (!seen) LOAD(seen, "acquire.gpu", flag);
    *out = *data;
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
