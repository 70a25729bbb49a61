// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 121
// Each word is changed by atomics of one size.
#include "../twin.h"

__global__ void kernel(unsigned long long* words) {
  if (blockIdx.x == 0) {
    atomicAdd(words, 1ull);
  } else {
    atomicAdd((unsigned*)(words + 1), 1u);
  }
}

int main() {
  auto* words = device<unsigned long long>(2, [](int) { return 0; });
  kernel<<<2, 1>>>(words);
  return judge(words, 2, [](int) { return 1; });
}
