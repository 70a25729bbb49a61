// SPDX-License-Identifier: Apache-2.0
// F6: a kernel on each of two devices; one produces, the other waits for it, and answers. The two words that they
// wait for stand in the memory of the one who waits, or of the one who arrives. Needs two devices with peer access.
#include <cuda/atomic>

#include "effects.h"

constexpr int kRounds = 1000;
using Word = cuda::atomic<unsigned, cuda::thread_scope_system>;

__global__ void produce(Word* data, Word* copied, volatile unsigned* payload) {
  for (unsigned k = 1; k <= kRounds; ++k) {
    *payload = k;
    data->store(k, cuda::memory_order_release);
    while (copied->load(cuda::memory_order_acquire) != k) {
    }
  }
}
__global__ void consume(Word* data, Word* copied, volatile unsigned* payload, unsigned* wrong) {
  for (unsigned k = 1; k <= kRounds; ++k) {
    while (data->load(cuda::memory_order_acquire) != k) {
    }
    if (*payload != k) ++*wrong;
    copied->store(k, cuda::memory_order_release);
  }
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  int devices = 0;
  MUST(cudaGetDeviceCount(&devices));
  if (devices < 2) return std::puts("SKIPPED: one device"), 0;
  unsigned* memory[2];
  cudaStream_t s[2];
  for (int d = 0; d < 2; ++d) {
    MUST(cudaSetDevice(d)), MUST(cudaDeviceEnablePeerAccess(1 - d, 0));
    MUST(cudaMalloc(&memory[d], 4096)), MUST(cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking));
  }
  // Of device 0: the producer. data_at, copied_at: whose memory the words are in.
  const auto one = [&](const char* name, int data_at, int copied_at) {
    std::vector<double> all;
    for (int k = 0; k <= rounds(); ++k) {
      for (int d = 0; d < 2; ++d) MUST(cudaSetDevice(d)), MUST(cudaMemset(memory[d], 0, 4096)), MUST(cudaDeviceSynchronize());
      Word *data = reinterpret_cast<Word*>(memory[data_at]), *copied = reinterpret_cast<Word*>(memory[copied_at] + 64);
      cudaEvent_t start, stop;
      MUST(cudaSetDevice(1));
      consume<<<1, 1, 0, s[1]>>>(data, copied, memory[1] + 128, memory[1] + 256);
      MUST(cudaSetDevice(0));
      MUST(cudaEventCreate(&start)), MUST(cudaEventCreate(&stop)), MUST(cudaEventRecord(start, s[0]));
      produce<<<1, 1, 0, s[0]>>>(data, copied, memory[1] + 128);
      MUST(cudaEventRecord(stop, s[0])), MUST(cudaEventSynchronize(stop));
      float ms = 0;
      MUST(cudaEventElapsedTime(&ms, start, stop));
      MUST(cudaSetDevice(1)), MUST(cudaDeviceSynchronize());
      unsigned wrong = 1;
      MUST(cudaMemcpy(&wrong, memory[1] + 256, 4, cudaMemcpyDeviceToHost));
      check(!wrong, name);
      if (k) all.push_back(ms * 1000);
    }
    std::sort(all.begin(), all.end());
    tell(name, all[all.size() / 2]);
  };
  one("where_it_is_waited_for", 1, 0);
  one("where_it_is_signalled", 0, 1);
  one("both_with_the_consumer", 1, 1);
  one("both_with_the_producer", 0, 0);
  std::puts("ok");
}
