// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 130
// hangs
// Every second block keeps what it got from a semaphore: the others sleep ever longer between their looks at it.
#include <cuda/semaphore>
#include <new>

#include "../twin.h"

using Semaphore = cuda::counting_semaphore<cuda::thread_scope_device, 8>;

__global__ void begin(Semaphore* s) { new (s) Semaphore(2); }

__global__ void kernel(Semaphore* s, int* out) {
  s->acquire();  // expect: deadlock
  atomicAdd(out, 1);
  if (blockIdx.x % 2) s->release();
}

int main() {
  int *words = zeros(16), *out = zeros(1);
  auto* s = reinterpret_cast<Semaphore*>(words);
  begin<<<1, 1>>>(s);
  kernel<<<8, 1>>>(s, out);
  return ended();
}
