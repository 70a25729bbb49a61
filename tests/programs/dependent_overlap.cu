// SPDX-License-Identifier: Apache-2.0
// What runs beside what under programmatic dependent launch. Kernels wait for each other's marks, for 0.3 seconds at most, and say
// whether they saw them.
#include "program.h"
using namespace program;

__device__ void trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ void wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)::"memory");
  return t;
}
__device__ void set(int* p, int v) {
  __threadfence();
  *const_cast<volatile int*>(p) = v;
  __threadfence();
}
__device__ int get(int* p) { return *const_cast<volatile int*>(p); }
// Was the mark there in time?
__device__ bool saw(int* p) {
  for (const unsigned long long until = now() + 300000000; now() < until;)
    if (get(p)) return true;
  return false;
}
__device__ void pause() {
  for (const unsigned long long until = now() + 50000000; now() < until;) __nanosleep(10000);
}

struct Marks {
  int first, second, result, seen[8];
};
enum FirstDoes { kTriggers = 1, kOneBlockOnly = 2, kOneThreadOnly = 4, kWaitsForSecond = 8, kWritesAtEnd = 16, kOtherBlockEnds = 32 };

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

cudaStream_t stream;
void launch_second(Marks* m, int does, int at, bool programmatic = true) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 32, config.stream = stream;
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &a, config.numAttrs = programmatic;
  MUST(cudaLaunchKernelEx(&config, second, m, does, at));
}

template <typename Body>
void test(const char* name, std::vector<int> slots, Body body) {
  const Device<Marks> marks(1);
  body(static_cast<Marks*>(marks));
  MUST(cudaStreamSynchronize(stream));
  const auto m = marks.copy();
  std::printf("%-72s", name);
  for (int s : slots) std::printf(" %s", m[0].seen[s] ? "yes" : "no");
  std::printf("\n");
}

int main() {
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {  // both are loaded
    const Device<Marks> m(1);
    first<<<1, 32, 0, stream>>>(m, 0);
    launch_second(m, 0, 0);
    MUST(cudaStreamSynchronize(stream));
  }
  test("the first sees what the second does after the trigger", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... without a trigger", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... without the attribute", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1, false);
  });
  test("... one of two blocks triggers", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kOneBlockOnly | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... one of two blocks triggers, the other ends", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kOneBlockOnly | kWaitsForSecond | kOtherBlockEnds);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... one thread of each block triggers", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kOneThreadOnly | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("the second spins on what the first does after its trigger", {2}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kSpinsOnFirst, 1);
  });
  test("both wait for each other: first, second", {0, 2}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks | kSpinsOnFirst, 1);
  });
  test("result of the first: before wait, after it", {1, 3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kTriggersToo | kReads, 1);
    launch_second(m, kReads | kWaits, 3);
  });
  test("third, programmatic, waits; the second triggered and did not wait", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kTriggersToo, 1);
    launch_second(m, kReads | kWaits, 3);
  });
  test("third, programmatic, does not wait; the second did not trigger or wait", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    launch_second(m, kReads, 3);
  });
  test("third, programmatic, does not wait; the second waited, then ended", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kWaits, 1);
    launch_second(m, kReads, 3);
  });
  test("third, plain; the second did not wait", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    launch_second(m, kReads, 3, false);
  });
  test("a copy behind the second, which did not wait", {4}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    MUST(cudaMemcpyAsync(&m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice, stream));
  });
  test("a copy between: the first sees the second", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    MUST(cudaMemcpyAsync(&m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice, stream));
    launch_second(m, kMarks, 1);
  });
  test("an event record between: the first sees the second", {0}, [](Marks* m) {
    cudaEvent_t e;
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    MUST(cudaEventRecord(e, stream));
    launch_second(m, kMarks, 1);
  });
  test("an event behind the second, which did not wait; another stream reads", {4}, [](Marks* m) {
    cudaEvent_t e;
    cudaStream_t other;
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    MUST(cudaEventRecord(e, stream));
    MUST(cudaStreamWaitEvent(other, e));
    MUST(cudaMemcpyAsync(&m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice, other));
    MUST(cudaStreamSynchronize(other));
  });
  test("wait without a predecessor", {1}, [](Marks* m) {
    const int one = 1;
    MUST(cudaMemcpy(&m->result, &one, sizeof one, cudaMemcpyHostToDevice));
    launch_second(m, kWaits | kReads | kTriggersToo, 1);
  });
  test("the first is on another stream", {0}, [](Marks* m) {
    cudaStream_t other;
    cudaEvent_t e;
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    first<<<2, 64, 0, other>>>(m, kTriggers | kWaitsForSecond);
    MUST(cudaEventRecord(e, other));
    MUST(cudaStreamWaitEvent(stream, e));
    launch_second(m, kMarks | kWaits, 1);
    MUST(cudaStreamSynchronize(other));
  });
}
