// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: a kernel that may start before its predecessor ends, and waits for its results with
// griddepcontrol.wait; chains of them, with early and late triggers, without the attribute, and an event that is
// recorded when all blocks have triggered.
#include "program.h"
using namespace program;

__device__ void trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ void wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Each step reads what the step before it wrote, in another block.
__global__ void step(uint32_t* words, int count, int round, bool early) {
  if (early) trigger();
  const uint32_t own = mix(blockIdx.x * blockDim.x + threadIdx.x + round);  // needs nothing of the predecessor
  wait();
  const uint32_t* from = words + round * count;
  uint32_t* to = words + (round + 1) * count;
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = from[(k * 7 + 13) % count];
  for (int spin = 0; spin < (k & 63); ++spin) asm volatile("" ::: "memory");
  to[k] = mix(v ^ own);
  if (!early) trigger();
}

__global__ void plain(uint32_t* words, int count, int round) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  words[(round + 1) * count + k] = mix(words[round * count + (k * 7 + 13) % count] ^ mix(k + round));
}

constexpr int kBlocks = 24, kThreads = 64, kCount = kBlocks * kThreads, kRounds = 6;

std::vector<uint32_t> expected() {
  std::vector<uint32_t> v(kCount * (kRounds + 1));
  const auto in = random_words(kCount);
  std::copy(in.begin(), in.end(), v.begin());
  for (int r = 0; r < kRounds; ++r)
    for (int k = 0; k < kCount; ++k) v[(r + 1) * kCount + k] = mix(v[r * kCount + (k * 7 + 13) % kCount] ^ mix(k + r));
  return v;
}

cudaError_t launch(cudaStream_t stream, uint32_t* words, int round, bool early, bool attribute, cudaEvent_t event = nullptr) {
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks, config.blockDim = kThreads, config.stream = stream;
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes, config.numAttrs = attribute;
  if (event) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticEvent;
    a.val.programmaticEvent.event = event;
    a.val.programmaticEvent.flags = 0;
    a.val.programmaticEvent.triggerAtBlockStart = 0;
  }
  return cudaLaunchKernelEx(&config, step, words, kCount, round, early);
}

int main() {
  cudaStream_t stream, other;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamCreate(&other));
  const auto want = expected();
  const auto run = [&](const char* name, auto body) {
    std::vector<uint32_t> start(want.size());
    std::copy(want.begin(), want.begin() + kCount, start.begin());
    const Device<uint32_t> words(start);
    body(static_cast<uint32_t*>(words));
    MUST(cudaDeviceSynchronize());
    expect_equal(name, words.copy(), want);
  };
  run("trigger first", [&](uint32_t* w) {
    for (int r = 0; r < kRounds; ++r) MUST(launch(stream, w, r, true, true));
  });
  run("trigger last", [&](uint32_t* w) {
    for (int r = 0; r < kRounds; ++r) MUST(launch(stream, w, r, false, true));
  });
  run("no attribute", [&](uint32_t* w) {
    for (int r = 0; r < kRounds; ++r) MUST(launch(stream, w, r, r & 1, false));
  });
  run("every second one is a plain kernel", [&](uint32_t* w) {
    for (int r = 0; r < kRounds; ++r)
      if (r & 1) plain<<<kBlocks, kThreads, 0, stream>>>(w, kCount, r);
      else MUST(launch(stream, w, r, true, true));
  });
  cudaEvent_t event;
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  run("another stream waits for the event", [&](uint32_t* w) {
    MUST(launch(stream, w, 0, false, false, event));
    MUST(cudaStreamWaitEvent(other, event));
    for (int r = 1; r < kRounds; ++r) MUST(launch(other, w, r, true, true));
  });
  return finish();
}
