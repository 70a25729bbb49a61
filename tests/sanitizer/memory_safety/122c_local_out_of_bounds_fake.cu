// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 122
// It ends at the last element.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  int list[8];
  for (int i = 0; i < 8; ++i) list[i] = i;
#pragma unroll 1
  for (int i = 0; i < n; ++i) list[(i * 5) % n] += i;
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += list[i];
  out[0] = sum;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out, 8);
  return judge(out, 1, [](int) { return 56; });
}
