// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// Dynamic parallelism: the order of launches in a block's default stream, in streams by name, across events, without
// any order and at the grid's tail; a grid is complete only when all of that is.
#include "program.h"
using namespace program;

struct Log {
  unsigned count;
  uint32_t entry[512];
};

__device__ void note(Log* log, uint32_t what) { log->entry[atomicAdd(&log->count, 1u)] = what; }
__device__ void dawdle(int turns) {
  const long long until = clock64() + turns * 1000ll;
  while (clock64() < until) {}
}

__global__ void child(Log* log, uint32_t what, int turns) {
  if (threadIdx.x == 0) dawdle(turns);
  __syncthreads();
  if (threadIdx.x == 0) note(log, what);
}

// Each block's launches keep their order, slow ones first.
__global__ void in_order(Log* logs) {
  if (threadIdx.x == 0)
    for (int i = 0; i < 8; ++i) child<<<1, 32>>>(logs + blockIdx.x, i, (8 - i) * 10);
}

// All threads of a block use one default stream.
__global__ void alone(Log* log, int* busy, int* overlaps) {
  if (atomicAdd(busy, 1) != 0) atomicAdd(overlaps, 1);
  dawdle(3);
  atomicSub(busy, 1);
  note(log, 1);
}
__global__ void by_all_threads(Log* log, int* busy, int* overlaps) { alone<<<1, 1>>>(log, busy, overlaps); }

__global__ void across_events(Log* log) {
  cudaStream_t a, b;
  cudaEvent_t e;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  child<<<1, 64, 0, a>>>(log, 10, 300);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  child<<<1, 64, 0, b>>>(log, 20, 0);
  cudaEventRecord(e, b);
  cudaStreamWaitEvent(a, e, 0);
  child<<<1, 64, 0, a>>>(log, 30, 0);
  cudaEventDestroy(e);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}

__global__ void last(Log* log, uint32_t what) { note(log, what); }
__global__ void with_tail(Log* log, uint32_t base) {
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(log, base + 8);
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(log, base + 9);
  child<<<1, 32>>>(log, base + 1, 200);
  note(log, base);
}
// The tail of a child comes before the tail of its parent, which comes before what the host launches next.
__global__ void tails(Log* log) {
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 100);
  with_tail<<<1, 1>>>(log, 10);
  with_tail<<<1, 1>>>(log, 30);
}

__global__ void many(unsigned* sum) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, i);
}
__global__ void forget(unsigned* sum) { many<<<2, 16, 0, cudaStreamFireAndForget>>>(sum); }

// What the parent wrote before the launch is there in the child; what the child wrote is there in the tail launch.
__global__ void double_all(int* v) { v[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
__global__ void sum_up(const int* v, int n, long long* sum) {
  for (int i = 0; i < n; ++i) *sum += v[i];
}
__global__ void write_then_launch(int* v, int n, long long* sum) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) v[i] = i;
  __syncthreads();
  if (threadIdx.x) return;
  double_all<<<n / 64, 64>>>(v);
  sum_up<<<1, 1, 0, cudaStreamTailLaunch>>>(v, n, sum);
}

struct Big {
  double a;
  char b[40];
  short c[3];
};
__global__ void take(Big big, char x, const double* p, long long* out) {
  *out = static_cast<long long>(big.a * 10 + big.b[39] + big.c[2] + x + *p);
}
__global__ void pass(long long* out, double* p) {
  Big big;
  big.a = 4.5;
  for (int i = 0; i < 40; ++i) big.b[i] = i;
  for (int i = 0; i < 3; ++i) big.c[i] = 1000 * i;
  *p = 7;
  take<<<1, 1>>>(big, 'x', p, out);
}

extern __shared__ int dynamic[];
__global__ void shared_child(int* out, int n) {
  dynamic[threadIdx.x] = threadIdx.x + blockIdx.z;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < n; ++i) atomicAdd(out, dynamic[i]);
}
__global__ void shared_parent(int* out) { shared_child<<<dim3(2, 3, 4), 96, 96 * sizeof(int)>>>(out, 96); }

int main() {
  {
    Device<Log> logs(4);
    in_order<<<4, 32>>>(logs);
    MUST_RUN();
    std::vector<uint32_t> got, want;
    for (const Log& l : logs.copy())
      for (int i = 0; i < 8; ++i) got.push_back(l.entry[i]), want.push_back(i);
    expect_equal("a block's default stream", got, want);
  }
  {
    Device<Log> log(1);
    Device<int> counts(2);
    by_all_threads<<<1, 64>>>(log, counts, counts + 1);
    MUST_RUN();
    expect("one stream for all threads", log.copy()[0].count == 64 && counts.copy()[1] == 0);
  }
  {
    Device<Log> log(1);
    across_events<<<1, 1>>>(log);
    MUST_RUN();
    const Log l = log.copy()[0];
    expect_equal("events", std::vector<uint32_t>(l.entry, l.entry + 3), std::vector<uint32_t>{10, 20, 30});
  }
  {
    Device<Log> log(1);
    tails<<<1, 1>>>(log);
    last<<<1, 1>>>(log, 200);
    MUST_RUN();
    const Log l = log.copy()[0];
    std::vector<uint32_t> got(l.entry, l.entry + l.count);
    const auto at = [&](uint32_t what) {
      for (size_t i = 0; i < got.size(); ++i)
        if (got[i] == what) return static_cast<int>(i);
      return -1;
    };
    expect("all of the tail launches ran", got.size() == 10);
    expect("first child: tails at its end", at(10) < at(18) && at(11) < at(18) && at(18) < at(19));
    expect("second child after the first's tails", at(19) < at(30) && at(31) < at(38) && at(38) < at(39));
    expect("parent's tail, then the host's next", at(100) == 8 && at(200) == 9);
  }
  {
    Device<unsigned> sum(1);
    forget<<<3, 64>>>(sum);
    MUST_RUN();
    expect("fire and forget", sum.copy()[0] == 3u * 64 * (31 * 32 / 2));
  }
  {
    Device<int> v(1024);
    Device<long long> sum(1);
    write_then_launch<<<1, 128>>>(v, 1024, sum);
    MUST_RUN();
    expect("writes before and after", sum.copy()[0] == 1023ll * 1024);
  }
  {
    Device<long long> out(1);
    Device<double> p(1);
    pass<<<1, 1>>>(out, p);
    MUST_RUN();
    expect("parameters", out.copy()[0] == 45 + 39 + 2000 + 'x' + 7);
  }
  {
    Device<int> out(1);
    shared_parent<<<1, 1>>>(out);
    MUST_RUN();
    expect("shared memory and shape", out.copy()[0] == 24 * (95 * 96 / 2) + 6 * 96 * (0 + 1 + 2 + 3));
  }
  return finish();
}
