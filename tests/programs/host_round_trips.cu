// SPDX-License-Identifier: Apache-2.0
// Host and kernel answer each other through pinned memory, many times within one launch: one thread, a block in which
// one thread polls for all, and several blocks that the host serves in turn.
#include "program.h"
using namespace program;

struct Mailbox {
  unsigned request, answer, pad[62];
};

__device__ unsigned wait_for(volatile unsigned* p, unsigned value) {
  while (*p != value) {}
  __threadfence_system();
  return value;
}

__global__ void one_thread(Mailbox* box, unsigned trips) {
  for (unsigned k = 1; k <= trips; ++k) {
    const unsigned got = wait_for(&box->request, k);
    *(volatile unsigned*)&box->answer = mix(got);
    __threadfence_system();
  }
}

__global__ void block_each(Mailbox* boxes, unsigned trips) {
  __shared__ unsigned request;
  Mailbox* box = boxes + blockIdx.x;
  for (unsigned k = 1; k <= trips; ++k) {
    do {
      __syncthreads();
      if (threadIdx.x == 0) request = *(volatile unsigned*)&box->request;
      __syncthreads();
    } while (request != k);
    if (threadIdx.x == 0) *(volatile unsigned*)&box->answer = mix(request);
    __threadfence_system();
  }
}

bool exchange(Mailbox* boxes, unsigned count, unsigned trips) {
  bool right = true;
  for (unsigned k = 1; k <= trips; ++k)
    for (unsigned b = 0; b < count; ++b) {
      __atomic_store_n(&boxes[b].request, k, __ATOMIC_RELEASE);
      unsigned answer;
      const unsigned before = k == 1 ? 0 : mix(k - 1);
      while ((answer = __atomic_load_n(&boxes[b].answer, __ATOMIC_ACQUIRE)) == before) {}
      right &= answer == mix(k);
    }
  return right;
}

int main() {
  const unsigned most = 4, trips = 200;
  Mailbox *host, *device;
  MUST(cudaHostAlloc(&host, most * sizeof(Mailbox), cudaHostAllocMapped));
  MUST(cudaHostGetDevicePointer(&device, host, 0));
  const auto run = [&](const char* name, unsigned count, auto kernel, unsigned threads) {
    std::memset(host, 0, most * sizeof(Mailbox));
    kernel<<<count, threads>>>(device, trips);
    const bool right = exchange(host, count, trips);
    MUST_RUN();
    expect(name, right);
  };
  run("one thread", 1, one_thread, 1);
  run("a block", 1, block_each, 128);
  run("four blocks", most, block_each, 64);
  return finish();
}
