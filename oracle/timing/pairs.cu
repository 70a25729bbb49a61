// SPDX-License-Identifier: Apache-2.0
// Two kinds of instructions, sixteen of each a turn, that seldom wait for results: what a sub-partition can issue of
// them together, and how its warps share the turns. Prints a line for each: the kinds, warps of a sub-partition, cycles
// of a turn and warp (code there before), and when the first warp ended, as a part of the time to the last one's end.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kChains = 4, kEach = 16;  // of each kind: so many results that do not wait for each other, so often

enum Kind {
  Ffma, Fadd, Imad, Wide, High, Add, Logic, Shift, Permute, Compare, Least, LeastInt, Exp, Count, ToFloat, ToInt, Half, Double, Add64, Matrix, Lds, Sts, Shuffle, kKinds
};
constexpr const char* kNames[] = {
    "ffma", "fadd",  "imad",     "wide",   "high", "add",    "logic", "shift",  "permute", "compare", "least", "least_int",
    "exp",  "count", "to_float", "to_int", "half", "double", "add64", "matrix", "lds",     "sts",     "shuffle"};

struct State {
  float f[kChains];
  uint32_t i[kChains];
  uint64_t l[kChains];
  double d[kChains];
  float m[kChains][4];
  uint32_t s[kChains];  // addresses in shared memory
  float x, y;
  uint32_t u, v;
};

template <int kKind, int k>
__device__ __forceinline__ void one(State& s) {
  constexpr int n = (k + 1) % kChains;
  if constexpr (kKind == Ffma) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(s.f[k]) : "f"(s.x), "f"(s.y));
  if constexpr (kKind == Fadd) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(s.f[k]) : "f"(s.f[n]));
  if constexpr (kKind == Imad) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(s.i[k]) : "r"(s.u), "r"(s.v));
  if constexpr (kKind == Wide) asm volatile("{.reg .u32 t; cvt.u32.u64 t, %0; mad.wide.u32 %0, t, %1, %0;}" : "+l"(s.l[k]) : "r"(s.u));
  if constexpr (kKind == High) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(s.i[k]) : "r"(s.u));
  if constexpr (kKind == Add) asm volatile("add.u32 %0, %0, %1;" : "+r"(s.i[k]) : "r"(s.i[n]));
  if constexpr (kKind == Logic) asm volatile("lop3.b32 %0, %0, %1, %2, 0x1e;" : "+r"(s.i[k]) : "r"(s.i[n]), "r"(s.u));
  if constexpr (kKind == Shift) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(s.i[k]) : "r"(s.i[n]), "r"(s.u));
  if constexpr (kKind == Permute) asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(s.i[k]) : "r"(s.i[n]), "r"(s.u));
  if constexpr (kKind == Compare) asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, %2, p;}" : "+r"(s.i[k]) : "r"(s.i[n]), "r"(s.u));
  if constexpr (kKind == Least) asm volatile("min.f32 %0, %0, %1;" : "+f"(s.f[k]) : "f"(s.f[n]));
  if constexpr (kKind == LeastInt) asm volatile("min.s32 %0, %0, %1;" : "+r"(s.i[k]) : "r"(s.i[n]));
  if constexpr (kKind == Exp) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(s.f[k]));
  if constexpr (kKind == Count) asm volatile("popc.b32 %0, %0;" : "+r"(s.i[k]));
  if constexpr (kKind == ToFloat) asm volatile("{.reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t;}" : "+r"(s.i[k]));
  if constexpr (kKind == ToInt) asm volatile("{.reg .f32 t; mov.b32 t, %0; cvt.rzi.s32.f32 %0, t;}" : "+r"(s.i[k]));
  if constexpr (kKind == Half) asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(s.i[k]) : "r"(s.u), "r"(s.v));
  if constexpr (kKind == Double) asm volatile("fma.rn.f64 %0, %0, %1, %0;" : "+d"(s.d[k]) : "d"(s.d[n]));
  if constexpr (kKind == Add64) asm volatile("add.u64 %0, %0, %1;" : "+l"(s.l[k]) : "l"(s.l[n]));
  if constexpr (kKind == Matrix)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};"
                 : "+f"(s.m[k][0]), "+f"(s.m[k][1]), "+f"(s.m[k][2]), "+f"(s.m[k][3]) : "r"(s.u), "r"(s.v));
  if constexpr (kKind == Lds) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(s.s[k]));
  if constexpr (kKind == Sts) asm volatile("st.shared.u32 [%0], %0;" ::"r"(s.s[k]));
  if constexpr (kKind == Shuffle) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(s.i[k]));
}

template <int kA, int kB, int... k>
__device__ __forceinline__ void all(State& s, std::integer_sequence<int, k...>) {
  ((one<kA, k % kChains>(s), one<kB, k % kChains>(s)), ...);
}

template <int kA, int kB>
__global__ void __launch_bounds__(1024) pair(uint32_t* out, long long* cycles, int turns, float x, uint32_t u) {
  __shared__ uint32_t words[1024 + 1];
  State s;
  const uint32_t mine = static_cast<uint32_t>(__cvta_generic_to_shared(words + threadIdx.x));
  words[threadIdx.x] = mine;
  s.x = x + threadIdx.x, s.y = s.x + 1, s.u = u + threadIdx.x, s.v = s.u + 7;
  for (int k = 0; k < kChains; ++k) {
    s.f[k] = s.x + k, s.i[k] = s.u * (k + 2), s.l[k] = s.u * 3 + k, s.d[k] = s.x + k, s.s[k] = mine;
    for (float& m : s.m[k]) m = s.x;
  }
  __syncthreads();
  if (words[(threadIdx.x + 32) % blockDim.x] == 0) return;  // waits for the barrier
  long long from = clock64(), now;
  do now = clock64(); while (now - from < 64);
  from = now;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) all<kA, kB>(s, std::make_integer_sequence<int, kEach>{});
  now = clock64();
  uint32_t sum = 0;
  for (int k = 0; k < kChains; ++k) {
    sum += __float_as_uint(s.f[k]) + s.i[k] + static_cast<uint32_t>(s.l[k]) + __double2hiint(s.d[k]) + s.s[k];
    for (float m : s.m[k]) sum += __float_as_uint(m);
  }
  out[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32 * 2] = from, cycles[threadIdx.x / 32 * 2 + 1] = now;
}

using Kernel = void (*)(uint32_t*, long long*, int, float, uint32_t);
template <int kA, int... kB>
void rows(Kernel (&table)[kKinds][kKinds], std::integer_sequence<int, kB...>) {
  ((table[kA][kB] = kB >= kA ? pair<kA, (kB >= kA ? kB : kA)> : nullptr), ...);
}
template <int... kA>
void tables(Kernel (&table)[kKinds][kKinds], std::integer_sequence<int, kA...> all) {
  (rows<kA>(table, all), ...);
}

int main(int argc, char** argv) {
  static Kernel table[kKinds][kKinds];
  tables(table, std::make_integer_sequence<int, kKinds>{});
  const int turns = argc > 1 ? atoi(argv[1]) : 256;
  uint32_t* out;
  long long *cycles, host[64];
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&cycles, sizeof host));
  for (const int warps : {1, 2, 4, 8})
    for (int a = 0; a < kKinds; ++a)
      for (int b = a; b < kKinds; ++b) {
        for (const int t : {1, turns}) table[a][b]<<<1, warps * 128>>>(out, cycles, t, 0.5f, 3);
        CHECK(cudaMemcpy(host, cycles, sizeof host, cudaMemcpyDeviceToHost));
        long long first = host[0], early = host[1], late = host[1];
        for (int w = 0; w < warps * 4; ++w)
          first = std::min(first, host[2 * w]), early = std::min(early, host[2 * w + 1]), late = std::max(late, host[2 * w + 1]);
        printf("%s %s %d | %.2f %.2f\n", kNames[a], kNames[b], warps, double(late - first) / turns / warps,
               double(early - first) / double(late - first));
      }
  return cudaDeviceSynchronize() != cudaSuccess;
}
