// SPDX-License-Identifier: Apache-2.0
// arch: compute_90a
// Do the four warps of a warpgroup keep in step at wgmma? One warp comes late to one of the four instructions; another,
// done with its own wait, overwrites the shared memory that the late one has yet to read. Says whose data each warp
// multiplied; with --time: how many cycles each warp spent where.
#include "program.h"
using namespace program;

enum Place { kFence, kMultiply, kCommit, kWait, kPlaces };
const char* const kNames[] = {"fence", "mma_async", "commit_group", "wait_group"};
constexpr int kDelay = 500000;  // ns

struct Test {
  int late, place, writer;  // the writer stores after its own wait; 4: nobody does
  bool a_registers, overwrite_a;
};

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
// Without a swizzle, k side by side: chunks of eight rows and eight halves;
// the next k is `lead` away, the next rows `stride`.
__device__ uint64_t describe(const void* p, uint32_t lead, uint32_t stride) {
  return (shared(p) & 0x3ffff) >> 4 | uint64_t(lead >> 4) << 16 | uint64_t(stride >> 4) << 32;
}

template <bool a_registers>
__global__ void run(Test t, float* results, long long* times) {
  __shared__ __align__(1024) uint16_t a[64 * 16], b[8 * 16];
  const int warp = threadIdx.x / 32;
  for (int k = threadIdx.x; k < 64 * 16; k += 128) a[k] = 0x3f80;  // 1
  for (int k = threadIdx.x; k < 8 * 16; k += 128) b[k] = 0x3f80;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const uint64_t of_a = describe(a, 128, 256), of_b = describe(b, 128, 256);
  float d[4] = {0, 0, 0, 0};
  const uint32_t ones = 0x3f803f80;
  long long at[kPlaces + 1];
  // No branch: the compiler would repeat the fence behind it.
  const auto come = [&](int place) {
    for (int k = 0; k < 3; ++k) asm volatile("nanosleep.u32 %0;" ::"r"(warp == t.late && place == t.place ? kDelay : 0) : "memory");
  };
  at[0] = clock64();
  come(kFence);
  asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  at[1] = clock64();
  come(kMultiply);
  if constexpr (a_registers)
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ones), "l"(of_b)
                 : "memory");
  else
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(of_a), "l"(of_b)
                 : "memory");
  at[2] = clock64();
  come(kCommit);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  at[3] = clock64();
  come(kWait);
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  at[4] = clock64();
  if (warp == t.writer) {
    if (t.overwrite_a)
      for (int k = threadIdx.x % 32; k < 64 * 16; k += 32) a[k] = 0x4000;  // 2
    else
      for (int k = threadIdx.x % 32; k < 8 * 16; k += 32) b[k] = 0x4000;
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  if (threadIdx.x % 32 == 0) {
    results[warp] = d[0];
    for (int p = 0; p < kPlaces; ++p) times[warp * kPlaces + p] = at[p + 1] - at[p];
  }
}

void show(const Test& t, bool timed) {
  const Device<float> results(4);
  const Device<long long> times(4 * kPlaces);
  (t.a_registers ? run<true> : run<false>)<<<1, 128>>>(t, results, times);
  MUST_RUN();
  const auto d = results.copy();
  std::printf("a in %s, warp %d late at %-12s", t.a_registers ? "registers" : "shared   ", t.late, kNames[t.place]);
  if (t.writer < 4) std::printf(", warp %d then overwrites %c:", t.writer, t.overwrite_a ? 'a' : 'b');
  else std::printf(":                          ");
  for (float v : d) std::printf(" %s", v == 16 ? "old" : v == 32 ? "new" : "mixed");
  std::printf("\n");
  if (!timed) return;
  const auto each = times.copy();
  for (int w = 0; w < 4; ++w) {
    std::printf("    warp %d:", w);
    for (int p = 0; p < kPlaces; ++p) std::printf(" %s %lld", kNames[p], each[w * kPlaces + p]);
    std::printf("\n");
  }
}

int main(int count, char**) {
  const bool timed = count > 1;
  for (int place = 0; place < kPlaces; ++place)
    for (bool registers : {false, true}) {
      show({3, place, 0, registers, false}, timed);
      show({0, place, 2, registers, false}, timed);
      if (!registers) show({2, place, 1, false, true}, timed);
    }
}
