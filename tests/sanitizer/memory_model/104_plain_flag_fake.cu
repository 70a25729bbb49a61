// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// covers: C1
// The flag is released and acquired.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    STORE("release.gpu", flag, 1);
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
