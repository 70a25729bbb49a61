// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// Each thread sets its flag of a byte; the word is read behind the barrier.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(4) bool flags[64];
  const int t = threadIdx.x;
  flags[t] = t % 2;
  __syncthreads();
  out[t] = __popc(reinterpret_cast<unsigned*>(flags)[t / 4]);
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int) { return 2; });
}
