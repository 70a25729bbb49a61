// SPDX-License-Identifier: Apache-2.0
// What .sync instructions do with membermasks that do not name the lane, differ by lane, or name lanes that have ended.
// The cases run in children of this process, because a refused one ends its context: a child goes on until one is
// refused, or does not end. One line per case: number, instruction, who executes it, membermask, and an error or the
// results of the lanes.
//   nvcc -arch=sm_90a -std=c++17 -O2 record.cu -o record && ./record [FIRST [STEP]]
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

enum Op { kBallot, kAny, kMatchAny, kMatchAll, kShfl, kReduxAdd, kReduxAnd, kBarrier, kElect, kOps };
const char* const op_names[] = {"vote.ballot", "vote.any",  "match.any", "match.all", "shfl.bfly",
                                "redux.add",   "redux.and", "bar.warp",  "elect"};
enum Where { kWhole, kHalf, kExited, kBehind, kWheres };
const char* const where_names[] = {"whole warp", "half, the others wait", "half, the others have ended", "whole, behind a loop"};
enum From { kMemory, kArgument, kConstant };

template <int op, bool constant>
__device__ uint32_t act(uint32_t lane, uint32_t m) {
  uint32_t r = 0;
  if (constant) m = 0xff;
  if (op == kBallot)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2;}" : "=r"(r) : "r"(0xDEADBEEFu >> lane & 1), "r"(m) : "memory");
  if (op == kAny)
    asm volatile("{.reg .pred p, q; setp.eq.u32 p, %1, 9; vote.sync.any.pred q, p, %2; selp.u32 %0, 1, 0, q;}" : "=r"(r) : "r"(lane), "r"(m) : "memory");
  if (op == kMatchAny) asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(lane & 3), "r"(m) : "memory");
  if (op == kMatchAll) asm volatile("match.all.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(lane / 16), "r"(m) : "memory");
  if (op == kShfl) asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, %2;" : "=r"(r) : "r"(100 + lane), "r"(m) : "memory");
  if (op == kReduxAdd) asm volatile("redux.sync.add.s32 %0, %1, %2;" : "=r"(r) : "r"(1u << lane), "r"(m) : "memory");
  if (op == kReduxAnd) asm volatile("redux.sync.and.b32 %0, %1, %2;" : "=r"(r) : "r"(~(1u << lane)), "r"(m) : "memory");
  if (op == kBarrier) {
    asm volatile("bar.warp.sync %0;" ::"r"(m) : "memory");
    r = 1;
  }
  if (op == kElect)
    asm volatile("{.reg .pred q; .reg .b32 d; elect.sync d|q, %1; selp.u32 %0, 256, 0, q; or.b32 %0, %0, d;}" : "=r"(r) : "r"(m) : "memory");
  return r;
}

template <int op, int where, int from>
__global__ void kernel(const uint32_t* masks, uint32_t argument, volatile uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  const uint32_t m = from == kMemory ? masks[lane] : argument;
  if (where == kExited && lane >= 16) return;
  if (where == kBehind)
    for (uint32_t k = 0; k < lane; ++k) out[32 + lane] = out[32 + (lane ^ 1)] + k;
  if (where == kHalf) {
    if (lane < 16) {
      out[32 + lane] = 5;
      out[lane] = act<op, from == kConstant>(lane, m);
      out[64 + lane] = 5;
    } else {
      out[32 + lane] = out[64 + lane] + 6;
    }
    out[96 + lane] = 1;
  } else {
    out[lane] = act<op, from == kConstant>(lane, m);
  }
}

struct MaskKind {
  const char* name;
  From from;
  uint32_t (*of)(uint32_t lane);
};
const MaskKind kinds[] = {
    {"constant 0xff", kConstant, [](uint32_t) { return 0xffu; }},
    {"argument 0xff", kArgument, [](uint32_t) { return 0xffu; }},
    {"0xff", kMemory, [](uint32_t) { return 0xffu; }},
    {"0xffff", kMemory, [](uint32_t) { return 0xffffu; }},
    {"all", kMemory, [](uint32_t) { return ~0u; }},
    {"none", kMemory, [](uint32_t) { return 0u; }},
    {"lanes below", kMemory, [](uint32_t l) { return (1u << l) - 1; }},
    {"lanes up to it", kMemory, [](uint32_t l) { return (2u << l) - 1; }},
    {"lanes from it", kMemory, [](uint32_t l) { return ~0u << l; }},
    {"itself", kMemory, [](uint32_t l) { return 1u << l; }},
    {"its pair", kMemory, [](uint32_t l) { return 3u << (l & ~1u); }},
    {"its eight", kMemory, [](uint32_t l) { return 0xffu << (l & ~7u); }},
    {"the other of its pair", kMemory, [](uint32_t l) { return 1u << (l ^ 1); }},
    {"the other half", kMemory, [](uint32_t l) { return l < 16 ? 0xffff0000u : 0xffffu; }},
    {"itself and the next", kMemory, [](uint32_t l) { return 1u << l | 1u << ((l + 1) & 31); }},
    {"all, lane 5 omits itself", kMemory, [](uint32_t l) { return l == 5 ? ~0x20u : ~0u; }},
    {"all, lane 5 names itself", kMemory, [](uint32_t l) { return l == 5 ? 0x20u : ~0u; }},
    {"all but lane 5, in all", kMemory, [](uint32_t) { return ~0x20u; }},
    {"even lanes, in all", kMemory, [](uint32_t) { return 0x55555555u; }},
    {"lanes of its parity", kMemory, [](uint32_t l) { return 0x55555555u << (l & 1); }},
};
constexpr int kKinds = sizeof kinds / sizeof kinds[0];

using Kernel = void (*)(const uint32_t*, uint32_t, volatile uint32_t*);
template <int op, int where>
Kernel of_mask(From f) {
  return f == kMemory ? kernel<op, where, kMemory> : f == kArgument ? kernel<op, where, kArgument> : kernel<op, where, kConstant>;
}
template <int op>
Kernel of_where(int where, From f) {
  return where == kWhole ? of_mask<op, kWhole>(f) : where == kHalf ? of_mask<op, kHalf>(f) : where == kExited ? of_mask<op, kExited>(f) : of_mask<op, kBehind>(f);
}
Kernel find(int op, int where, From f) {
  switch (op) {
    case kBallot: return of_where<kBallot>(where, f);
    case kAny: return of_where<kAny>(where, f);
    case kMatchAny: return of_where<kMatchAny>(where, f);
    case kMatchAll: return of_where<kMatchAll>(where, f);
    case kShfl: return of_where<kShfl>(where, f);
    case kReduxAdd: return of_where<kReduxAdd>(where, f);
    case kReduxAnd: return of_where<kReduxAnd>(where, f);
    case kBarrier: return of_where<kBarrier>(where, f);
    default: return of_where<kElect>(where, f);
  }
}

std::string results(const uint32_t* r) {
  std::string text;
  char word[32];
  for (int l = 0; l < 32;) {
    int e = l;
    while (e < 32 && r[e] == r[l]) ++e;
    std::snprintf(word, sizeof word, e - l > 1 ? " %x*%d" : " %x", r[l], e - l);
    text += word;
    l = e;
  }
  return text;
}

int child(int first, int step) {
  uint32_t *masks, *out;
  int at = first;
  if (cudaMalloc(&masks, 128) || cudaMalloc(&out, 512)) return 100;
  for (; at < kOps * kWheres * kKinds; at += step) {
    const int op = at / (kWheres * kKinds), where = at / kKinds % kWheres;
    const MaskKind& k = kinds[at % kKinds];
    uint32_t m[32], r[32];
    for (uint32_t l = 0; l < 32; ++l) m[l] = k.of(l);
    cudaMemcpy(masks, m, 128, cudaMemcpyHostToDevice);
    cudaMemset(out, 0xcc, 512);
    std::printf("%d\t%s\t%s\t%s\t", at, op_names[op], where_names[where], k.name);
    std::fflush(stdout);
    alarm(4);
    find(op, where, k.from)<<<1, 32>>>(masks, 0xff, out);
    const cudaError_t e = cudaDeviceSynchronize();
    alarm(0);
    if (e != cudaSuccess) {
      std::printf(" %s\n", cudaGetErrorName(e));
      std::fflush(stdout);
      _exit(1);
    }
    cudaMemcpy(r, out, 128, cudaMemcpyDeviceToHost);
    std::printf("%s\n", results(r).c_str());
    std::fflush(stdout);
  }
  return 0;
}

int main(int argc, char** argv) {
  int at = argc > 1 ? std::atoi(argv[1]) : 0;
  const int step = argc > 2 ? std::atoi(argv[2]) : 1;
  while (at < kOps * kWheres * kKinds) {
    int told[2];
    if (pipe(told)) return 2;
    const pid_t p = fork();
    if (p == 0) {
      dup2(told[1], 1);
      close(told[0]);
      return child(at, step);
    }
    close(told[1]);
    FILE* in = fdopen(told[0], "r");
    char line[1024];
    std::string last;
    int n = 0;
    while (std::fgets(line, sizeof line, in)) last = line, ++n, std::fputs(line, stdout), at = std::atoi(line) + step;
    std::fclose(in);
    int status = 0;
    waitpid(p, &status, 0);
    if (WIFSIGNALED(status)) std::printf(" killed by signal %d\n", WTERMSIG(status));
    std::fflush(stdout);
    if (n == 0) return 3;
  }
}
