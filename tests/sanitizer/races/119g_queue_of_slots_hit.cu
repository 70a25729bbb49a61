// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119, 104
// A queue's slot is handed over by a ticket that is stored without release.
#include <cuda/atomic>

#include "../twin.h"

constexpr unsigned kSlots = 8;
struct Slot {
  unsigned ticket;
  int payload[3];
};

__device__ void put(Slot* ring, unsigned n, int value) {
  Slot& s = ring[n % kSlots];
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(s.ticket);
  while (ticket.load(cuda::memory_order_acquire) != n / kSlots * 2) {
  }
  for (int i = 0; i < 3; ++i) s.payload[i] = value + i;  // expect: race-global A
  ticket.store(n / kSlots * 2 + 1, cuda::memory_order_relaxed);
}

__device__ int take(Slot* ring, unsigned n) {
  Slot& s = ring[n % kSlots];
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(s.ticket);
  while (ticket.load(cuda::memory_order_acquire) != n / kSlots * 2 + 1) {
  }
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += s.payload[i];  // expect: race-global B
  ticket.store(n / kSlots * 2 + 2, cuda::memory_order_release);
  return sum;
}

__global__ void kernel(Slot* ring, int* out) {
  if (threadIdx.x != 0) return;
  for (unsigned n = 0; n < 20; ++n) {
    if (blockIdx.x == 0) put(ring, n, n);
    else out[n] = take(ring, n);
  }
}

int main() {
  Slot* ring = device<Slot>(kSlots, [](int) { return Slot{}; });
  int* out = zeros(20);
  kernel<<<2, 32>>>(ring, out);
  return ended();
}
