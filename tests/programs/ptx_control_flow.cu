// SPDX-License-Identifier: Apache-2.0
// Control flow written in PTX: branch tables, predicated jumps and returns, an irreducible loop,
// calls with local registers.
#include "program.h"
using namespace program;

__global__ void branch_table(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = mix(i);
  asm volatile(
      "{\n"
      ".reg .u32 pick;\n"
      "rem.u32 pick, %0, 4;\n"
      "targets: .branchtargets first, second, third, fourth;\n"
      "brx.idx pick, targets;\n"
      "first: add.u32 %0, %0, 100; bra.uni done;\n"
      "second: mul.lo.u32 %0, %0, 3;\n"
      "third: xor.b32 %0, %0, 255; bra done;\n"
      "fourth: shr.u32 %0, %0, 3;\n"
      "done:\n"
      "}\n" : "+r"(v));
  out[i] = v;
}

uint32_t branch_table_reference(uint32_t i) {
  const uint32_t v = mix(i);
  switch (v % 4) {
    case 0: return v + 100;
    case 1: return (v * 3) ^ 255;
    case 2: return v ^ 255;
    default: return v >> 3;
  }
}

__global__ void irreducible(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = mix(i), fuel = v % 50;
  asm volatile(
      "{\n"
      ".reg .pred p, q;\n"
      ".reg .u32 t;\n"
      "and.b32 t, %0, 1;\n"
      "setp.eq.u32 p, t, 1;\n"
      "@p bra right;\n"
      "left: mad.lo.u32 %0, %0, 5, 7;\n"
      "setp.eq.u32 q, %1, 0;\n"
      "@q bra end;\n"
      "sub.u32 %1, %1, 1;\n"
      "and.b32 t, %0, 6;\n"
      "setp.eq.u32 p, t, 2;\n"
      "@p bra left;\n"
      "right: xor.b32 %0, %0, %1;\n"
      "setp.eq.u32 q, %1, 0;\n"
      "@q bra end;\n"
      "sub.u32 %1, %1, 1;\n"
      "and.b32 t, %0, 12;\n"
      "setp.ne.u32 p, t, 4;\n"
      "@!p bra right;\n"
      "bra left;\n"
      "end:\n"
      "}\n" : "+r"(v), "+r"(fuel));
  out[i] = v;
}

uint32_t irreducible_reference(uint32_t i) {
  uint32_t v = mix(i), fuel = v % 50;
  bool right = v & 1;
  for (;;) {
    if (!right) {
      v = v * 5 + 7;
      if (fuel-- == 0) return v;
      right = (v & 6) != 2;
    } else {
      v ^= fuel;
      if (fuel-- == 0) return v;
      right = (v & 12) == 4;
    }
  }
}

__global__ void leave(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = mix(i);
  out[i] = 1;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, 0x40000000; @p exit; }" ::"r"(v));
  out[i] = 2;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, 0x80000000; @p ret; }" ::"r"(v));
  out[i] = 3 + __popc(__activemask() & 0);
}

int main() {
  const int n = 2048;
  Device<uint32_t> out(n);
  std::vector<uint32_t> want(n);
  branch_table<<<n / 128, 128>>>(out);
  MUST_RUN();
  for (int i = 0; i < n; ++i) want[i] = branch_table_reference(i);
  expect_equal("branch table", out.copy(), want);
  irreducible<<<n / 128, 128>>>(out);
  MUST_RUN();
  for (int i = 0; i < n; ++i) want[i] = irreducible_reference(i);
  expect_equal("irreducible loop", out.copy(), want);
  leave<<<n / 128, 128>>>(out);
  MUST_RUN();
  for (int i = 0; i < n; ++i) want[i] = mix(i) < 0x40000000 ? 1 : mix(i) < 0x80000000 ? 2 : 3;
  expect_equal("predicated exits", out.copy(), want);
  return finish();
}
