// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 130
// Every block gives back what it got from a semaphore.
#include <cuda/semaphore>
#include <new>

#include "../twin.h"

using Semaphore = cuda::counting_semaphore<cuda::thread_scope_device, 8>;

__global__ void begin(Semaphore* s) { new (s) Semaphore(2); }

__global__ void kernel(Semaphore* s, int* out) {
  s->acquire();
  atomicAdd(out, 1);
  s->release();
}

int main() {
  int *words = zeros(16), *out = zeros(1);
  auto* s = reinterpret_cast<Semaphore*>(words);
  begin<<<1, 1>>>(s);
  kernel<<<8, 1>>>(s, out);
  return judge(out, 1, [](int) { return 8; });
}
