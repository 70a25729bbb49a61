// SPDX-License-Identifier: Apache-2.0
// Kernels that tell what overlaps: they wait for each other's marks, for 0.3 seconds at most, and say whether
// they saw them.
#pragma once
#include "program.h"

namespace overlap {
using namespace program;

__device__ inline void trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ inline void wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)::"memory");
  return t;
}
__device__ inline void set(int* p, int v) {
  __threadfence();
  *const_cast<volatile int*>(p) = v;
  __threadfence();
}
__device__ inline int get(int* p) { return *const_cast<volatile int*>(p); }
// Was the mark there in time?
__device__ inline bool saw(int* p) {
  for (const unsigned long long until = now() + 300000000; now() < until;)
    if (get(p)) return true;
  return false;
}
__device__ inline void pause() {
  for (const unsigned long long until = now() + 50000000; now() < until;) __nanosleep(10000);
}

struct Marks {
  int first, second, result, seen[8];
};
enum FirstDoes {
  kTriggers = 1,
  kOneBlockOnly = 2,
  kOneThreadOnly = 4,
  kWaitsForSecond = 8,
  kWritesAtEnd = 16,
  kOtherBlockEnds = 32
};

__global__ void first(Marks* m, int does) {
  const bool lead = blockIdx.x == 0 && threadIdx.x == 0;
  bool mine = does & kTriggers;
  if (does & kOneBlockOnly) mine = blockIdx.x == 0;
  if (does & kOneThreadOnly) mine = threadIdx.x == 0;
  if (mine) trigger();
  if ((does & kOtherBlockEnds) && blockIdx.x != 0) return;
  if (does & kWaitsForSecond) {
    if (lead) m->seen[0] = saw(&m->second);
    __syncthreads();
    if (blockIdx.x != 0) saw(&m->second);
  }
  if (does & kWritesAtEnd) {
    pause();
    if (lead) set(&m->result, 1);
  }
  if (lead) set(&m->first, 1);
}

enum SecondDoes { kWaits = 1, kTriggersToo = 2, kMarks = 4, kReads = 8, kSpinsOnFirst = 16 };
__global__ void second(Marks* m, int does, int at) {
  if (threadIdx.x || blockIdx.x) return;
  if (does & kTriggersToo) trigger();
  if (does & kMarks) set(&m->second, 1);
  if (does & kSpinsOnFirst) m->seen[at + 1] = saw(&m->first);
  if (does & kWaits) wait();
  if (does & kReads) m->seen[at] = get(&m->result);
}

inline cudaStream_t stream;

inline void launch_second(Marks* m, int does, int at, bool programmatic = true, cudaStream_t in = stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 32, config.stream = in;
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &a, config.numAttrs = programmatic;
  MUST(cudaLaunchKernelEx(&config, second, m, does, at));
}

inline void tell(const char* name, const Marks& m, const std::vector<int>& slots) {
  std::printf("%-72s", name);
  for (int s : slots) std::printf(" %s", m.seen[s] ? "yes" : "no");
  std::printf("\n");
}

// Both are loaded.
inline void prepare() {
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Device<Marks> m(1);
  first<<<1, 32, 0, stream>>>(m, 0);
  launch_second(m, 0, 0);
  MUST(cudaStreamSynchronize(stream));
}

template <typename Body>
void test(const char* name, std::vector<int> slots, Body body) {
  const Device<Marks> marks(1);
  body(static_cast<Marks*>(marks));
  MUST(cudaDeviceSynchronize());
  tell(name, marks.copy()[0], slots);
}

}  // namespace overlap
