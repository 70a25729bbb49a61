// SPDX-License-Identifier: Apache-2.0
// Every lane of every warp takes the same lock. With lanes in lockstep the holder could never release it.
#include "program.h"
using namespace program;

// The critical section stands after the loop that takes the lock.
__global__ void lock_then_work(int* lock, volatile uint32_t* counter, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// ... and inside it.
__global__ void work_in_loop(int* lock, volatile uint32_t* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *counter = *counter * 3 + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// A ticket lock: lanes are served in the order of their tickets, which need not be that of the lanes.
__global__ void tickets(uint32_t* next, volatile uint32_t* serving, volatile uint32_t* log) {
  const uint32_t mine = atomicAdd(next, 1);
  while (*serving != mine) __nanosleep(20);
  __threadfence();
  log[mine] = mix(mine ? log[mine - 1] : 5);
  __threadfence();
  *serving = mine + 1;
}

int main() {
  Device<int> lock(1);
  Device<uint32_t> counter(1), next(1), serving(1), log(256);
  lock_then_work<<<4, 96>>>(lock, counter, 3);
  MUST_RUN();
  expect_equal("lock, then work", counter.copy(), {4 * 96 * 3});
  MUST(cudaMemset(counter, 0, 4));
  work_in_loop<<<2, 64>>>(lock, counter);
  MUST_RUN();
  uint32_t want = 0;
  for (int i = 0; i < 128; ++i) want = want * 3 + 1;
  expect_equal("work inside the loop", counter.copy(), {want});
  tickets<<<4, 64>>>(next, serving, log);
  MUST_RUN();
  std::vector<uint32_t> wanted(256);
  for (int i = 0; i < 256; ++i) wanted[i] = mix(i ? wanted[i - 1] : 5);
  expect_equal("tickets", log.copy(), wanted);
  return finish();
}
