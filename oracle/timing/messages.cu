// SPDX-License-Identifier: Apache-2.0
// Threads that wait for what other threads have written: flags that go to and fro, mail, rings, counters,
// barriers, semaphores and latches of the library, look-back, tasks that depend on tasks. Prints a line for each
// launch: kind, one size, another size (what they are, the kind says), CTAs, threads. See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,smsp__inst_executed.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_atom.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

using Word = uint32_t;
constexpr int kLine = 64;  // words between two that are not to meet

__device__ Word acquired(const Word* p) {
  Word v;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void release(Word* p, Word v) { asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

// Two CTAs of each pair set a word in turns. How 0: acquire and release, 1: volatile and fences, 2: exchanges.
template <int How>
__global__ void to_and_fro(Word* words, int turns) {
  if (threadIdx.x) return;
  Word* const mine = words + blockIdx.x / 2 * kLine;
  const Word me = blockIdx.x % 2;
  for (int t = 0; t < turns; ++t) {
    if (How == 0) {
      while (acquired(mine) != 2 * t + me) {
      }
      release(mine, 2 * t + me + 1);
    } else if (How == 1) {
      while (*static_cast<volatile Word*>(mine) != 2 * t + me) {
      }
      __threadfence();
      *static_cast<volatile Word*>(mine) = 2 * t + me + 1;
    } else {
      while (atomicAdd(mine, 0) != 2 * t + me) {
      }
      atomicExch(mine, 2 * t + me + 1);
    }
  }
}
// The same between the first two warps of each CTA, by shared memory.
__global__ void to_and_fro_shared(Word* out, int turns) {
  __shared__ Word word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  const Word me = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0 && me < 2) {
    cuda::atomic_ref<Word, cuda::thread_scope_block> w(word);
    for (int t = 0; t < turns; ++t) {
      while (w.load(cuda::memory_order_acquire) != 2 * t + me) {
      }
      w.store(2 * t + me + 1, cuda::memory_order_release);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = word;
}
// A token goes round all CTAs.
__global__ void ring(Word* words, int turns) {
  if (threadIdx.x) return;
  Word *const mine = words + blockIdx.x * kLine, *const next = words + (blockIdx.x + 1) % gridDim.x * kLine;
  for (int t = 0; t < turns; ++t) {
    while (acquired(mine) != t + (blockIdx.x != 0)) {
    }
    release(next, t + 1);
  }
}
// The even CTAs write a message of so many words for the next one, which sums it and says so.
__global__ void mail(Word* flags, Word* box, Word* out, int turns, int words) {
  Word *const flag = flags + blockIdx.x / 2 * kLine, *const mine = box + blockIdx.x / 2 * words;
  const bool sends = blockIdx.x % 2 == 0;
  Word sum = 0;
  for (int t = 0; t < turns; ++t) {
    if (threadIdx.x == 0)
      while (acquired(flag) != 2 * t + !sends) {
      }
    __syncthreads();
    for (int k = threadIdx.x; k < words; k += blockDim.x) {
      if (sends)
        mine[k] = t + k;
      else
        sum += mine[k];
    }
    __syncthreads();
    if (threadIdx.x == 0) release(flag, 2 * t + !sends + 1);
  }
  if (sum == 0x9e3779b9u) *out = sum;
}
// Lane by lane: each thread waits for the one before.
__global__ void threads_in_turn(Word* words, Word* out) {
  volatile Word* const mine = words + blockIdx.x * kLine;
  bool done = false;
  while (!done) {
    if (*mine == threadIdx.x) {
      *mine = threadIdx.x + 1;
      done = true;
    }
  }
  if (*mine == 0x9e3779b9u) *out = 1;
}
// CTA 0 computes, then lets all others go.
__global__ void gate(Word* word, Word* out, int work) {
  float v = threadIdx.x;
  if (blockIdx.x == 0) {
    for (int k = 0; k < work; ++k) v = v * 0.999f + 1;
    __syncthreads();
    if (threadIdx.x == 0) release(word, 1 + (v == 12345.f));
  } else if (threadIdx.x == 0) {
    while (!acquired(word)) {
    }
  }
  __syncthreads();
  if (v == 12345.f) *out = 1;
}
// All compute and count; CTA 0 waits for all.
__global__ void gathered(Word* word, Word* out, int work) {
  float v = threadIdx.x;
  for (int k = 0; k < work * int(1 + blockIdx.x % 4); ++k) v = v * 0.999f + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(word, 1);
    if (blockIdx.x == 0)
      while (acquired(word) != gridDim.x) {
      }
  }
  __syncthreads();
  if (v == 12345.f) *out = 1;
}
// A barrier of all CTAs whose sense turns.
__global__ void senses(Word* count, Word* sense, int turns) {
  for (int t = 0; t < turns; ++t) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      if (atomicAdd(count, 1) == gridDim.x - 1) {
        *count = 0;
        release(sense, t + 1);
      } else {
        while (acquired(sense) != t + 1) {
        }
      }
    }
    __syncthreads();
  }
}
using Barrier = cuda::barrier<cuda::thread_scope_device>;
using Latch = cuda::latch<cuda::thread_scope_device>;
using Semaphore = cuda::counting_semaphore<cuda::thread_scope_device>;
__global__ void make(Barrier* b, Latch* l, Semaphore* s, int parties, int places) {
  new (b) Barrier(parties);
  new (l) Latch(parties);
  new (s) Semaphore(places);
}
__global__ void barriers(Barrier* b, int turns) {  // of thread 0 of each CTA
  if (threadIdx.x) return;
  for (int t = 0; t < turns; ++t) b->arrive_and_wait();
}
__global__ void barriers_of_all(Barrier* b, int turns) {  // of every thread
  for (int t = 0; t < turns; ++t) b->arrive_and_wait();
}
__global__ void latches(Latch* l, Word* out, int work) {
  float v = threadIdx.x;
  for (int k = 0; k < work * int(1 + blockIdx.x % 4); ++k) v = v * 0.999f + 1;
  if (threadIdx.x == 0) l->arrive_and_wait();
  if (v == 12345.f) *out = 1;
}
__global__ void semaphores(Semaphore* s, Word* out, int turns, int work) {
  if (threadIdx.x) return;
  float v = blockIdx.x;
  for (int t = 0; t < turns; ++t) {
    s->acquire();
    for (int k = 0; k < work; ++k) v = v * 0.999f + 1;
    s->release();
  }
  if (v == 12345.f) *out = 1;
}
// The library's wait and notify, between the CTAs of each pair.
__global__ void notified(Word* words, int turns) {
  if (threadIdx.x) return;
  cuda::atomic_ref<Word, cuda::thread_scope_device> w(words[blockIdx.x / 2 * kLine]);
  const Word me = blockIdx.x % 2;
  for (int t = 0; t < turns; ++t) {
    for (Word seen = w.load(cuda::memory_order_acquire); seen != 2 * t + me; seen = w.load(cuda::memory_order_acquire))
      w.wait(seen, cuda::memory_order_acquire);
    w.store(2 * t + me + 1, cuda::memory_order_release);
    w.notify_all();
  }
}
// A scan in one pass: a warp looks back at what the 32 CTAs before have said, 2 and a sum so far, or 1 and a part.
__global__ void look_back(const Word* in, Word* out, unsigned long long* said) {
  __shared__ Word before, sums[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * blockDim.x + threadIdx.x;
  Word v = in[i];
  for (int d = 1; d < 32; d *= 2) {
    const Word other = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += other;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  Word all = 0, mine = 0;
  for (int k = 0; k < int(blockDim.x / 32); ++k) {
    if (k < warp) mine += sums[k];
    all += sums[k];
  }
  if (warp == 0) {
    volatile unsigned long long* const s = said;
    if (lane == 0) s[blockIdx.x] = (blockIdx.x ? 1ull : 2ull) << 32 | all;
    Word sum = 0;
    for (int at = int(blockIdx.x) - 1; at >= 0; at -= 32) {
      const int k = at - lane;
      unsigned long long one = 2ull << 32;
      do
        if (k >= 0) one = s[k];
      while (__any_sync(~0u, one >> 32 == 0));
      const unsigned whole = __ballot_sync(~0u, one >> 32 == 2);
      Word part = whole && lane > __ffs(whole) - 1 ? 0 : Word(one);
      for (int d = 16; d; d /= 2) part += __shfl_xor_sync(~0u, part, d);
      sum += part;
      if (whole) break;
    }
    if (lane == 0) {
      if (blockIdx.x) s[blockIdx.x] = 2ull << 32 | Word(sum + all);
      before = sum;
    }
  }
  __syncthreads();
  out[i] = before + mine + v;
}
// Tasks of a triangle: each waits for the one above and the one to the left; CTAs take them by number.
__global__ void wavefront(Word* next, Word* done, Word* out, int width, int work) {
  __shared__ int task;
  float v = threadIdx.x;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) task = atomicAdd(next, 1);
    __syncthreads();
    if (task >= width * width) break;
    const int x = task % width, y = task / width;
    if (threadIdx.x == 0) {
      while (x && !acquired(done + task - 1)) {
      }
      while (y && !acquired(done + task - width)) {
      }
    }
    __syncthreads();
    for (int k = 0; k < work; ++k) v = v * 0.999f + 1;
    __syncthreads();
    if (threadIdx.x == 0) release(done + task, 1);
  }
  if (v == 12345.f) *out = 1;
}
// Each CTA sums a part; the last one to come sums the parts. And by a lock for each of a few tiles.
__global__ void last_one(const float* in, float* parts, Word* count, float* out, int each) {
  __shared__ bool last;
  float v = 0;
  for (int k = 0; k < each; ++k) v += in[(blockIdx.x * each + k) * blockDim.x + threadIdx.x];
  parts[blockIdx.x * blockDim.x + threadIdx.x] = v;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  v = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) v += parts[k * blockDim.x + threadIdx.x];
  out[threadIdx.x] = v;
}
__global__ void split(const float* in, float* tiles, Word* turns, int each, int parts) {  // CTAs of a tile add in order
  const int tile = blockIdx.x / parts, part = blockIdx.x % parts;
  float v = 0;
  for (int k = 0; k < each; ++k) v += in[(blockIdx.x * each + k) * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0)
    while (acquired(turns + tile * kLine) != part) {
    }
  __syncthreads();
  float* const mine = tiles + tile * blockDim.x + threadIdx.x;
  *mine = part ? __ldcg(mine) + v : v;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) release(turns + tile * kLine, part + 1);
}

static void line(const char* kind, long a, long b, int ctas, int threads) {
  printf("%s %ld %ld %d %d\n", kind, a, b, ctas, threads);
}

int main() {
  const size_t room = size_t(256) << 20;
  Word* a;
  Word* out;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(a, 0, room));
  Word* cell = a + (32 << 20);  // words that nobody has touched
  const auto fresh = [&](int words = 1 << 14) { return (cell += words) - words; };
  for (int ctas : {2, 16, 132})
    for (int turns : {1, 16, 128}) {
      to_and_fro<0><<<ctas, 32>>>(fresh(), turns), line("to_and_fro", 0, turns, ctas, 32);
      to_and_fro<1><<<ctas, 32>>>(fresh(), turns), line("to_and_fro", 1, turns, ctas, 32);
      to_and_fro<2><<<ctas, 32>>>(fresh(), turns), line("to_and_fro", 2, turns, ctas, 32);
      notified<<<ctas, 32>>>(fresh(), turns), line("notified", 0, turns, ctas, 32);
    }
  for (int ctas : {1, 132})
    for (int turns : {16, 256}) to_and_fro_shared<<<ctas, 128>>>(out, turns), line("to_and_fro_shared", 0, turns, ctas, 128);
  for (int ctas : {4, 32, 132})
    for (int turns : {1, 8}) ring<<<ctas, 32>>>(fresh(), turns), line("ring", 0, turns, ctas, 32);
  for (int ctas : {2, 132})
    for (int words : {1, 256, 4096})
      for (int turns : {4, 32}) mail<<<ctas, 256>>>(fresh(), fresh(1 << 19), out, turns, words), line("mail", words, turns, ctas, 256);
  for (int ctas : {1, 132})
    for (int threads : {32, 128}) threads_in_turn<<<ctas, threads>>>(fresh(), out), line("threads_in_turn", 0, 0, ctas, threads);
  for (int ctas : {8, 132, 528})
    for (int work : {1, 4096}) {
      gate<<<ctas, 128>>>(fresh(), out, work), line("gate", work, 0, ctas, 128);
      gathered<<<ctas, 128>>>(fresh(), out, work), line("gathered", work, 0, ctas, 128);
    }
  for (int ctas : {2, 33, 132})
    for (int turns : {1, 16}) {
      Word* const words = fresh();
      senses<<<ctas, 256>>>(words, words + kLine, turns), line("senses", 0, turns, ctas, 256);
    }
  const auto objects = [&](int parties, int places) {
    Word* const at = fresh();
    make<<<1, 1>>>((Barrier*)at, (Latch*)(at + kLine), (Semaphore*)(at + 2 * kLine), parties, places);
    line("make", parties, places, 1, 1);
    return at;
  };
  for (int ctas : {2, 32, 132}) {
    for (int turns : {1, 16}) {
      Word* at = objects(ctas, 1);
      barriers<<<ctas, 32>>>((Barrier*)at, turns), line("barriers", 0, turns, ctas, 32);
      at = objects(ctas * 64, 1);
      barriers_of_all<<<ctas, 64>>>((Barrier*)at, turns), line("barriers_of_all", 0, turns, ctas, 64);
    }
    for (int work : {1, 4096}) {
      Word* at = objects(ctas, 1);
      latches<<<ctas, 32>>>((Latch*)(at + kLine), out, work), line("latches", work, 0, ctas, 32);
      at = objects(ctas, 4);
      semaphores<<<ctas, 32>>>((Semaphore*)(at + 2 * kLine), out, 4, work), line("semaphores", work, 4, ctas, 32);
    }
  }
  for (int ctas : {32, 256, 4096}) look_back<<<ctas, 256>>>(a, fresh(1 << 20), (unsigned long long*)fresh()), line("look_back", 0, 0, ctas, 256);
  for (int width : {4, 16, 32})
    for (int work : {16, 1024}) {
      Word* const words = fresh();
      wavefront<<<132, 128>>>(words, words + kLine, out, width, work), line("wavefront", width, work, 132, 128);
    }
  for (int ctas : {32, 264, 2112})
    for (int each : {1, 16}) {
      last_one<<<ctas, 256>>>((float*)a, (float*)fresh(1 << 20), fresh(), (float*)out, each), line("last_one", each, 0, ctas, 256);
      split<<<ctas, 256>>>((float*)a, (float*)fresh(1 << 20), fresh(1 << 17), each, 4), line("split", each, 4, ctas, 256);
    }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
