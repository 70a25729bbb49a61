// SPDX-License-Identifier: Apache-2.0
// The forms of register-to-register matrix instructions that are recorded.
#pragma once
#include <string>
#include <vector>

#include "mma_inputs.h"

namespace mma_inputs {

struct Operand {
  u32 regs;
  Kind kind;
  const char* type;  // of the PTX register
};
struct Form {
  std::string mnemonic;
  Operand d, a, b, c;
  u32 wide = 0;          // registers of 64 bits
  int selector = -1;     // of sparse forms
  Kind meta = kSparse4;  // likewise
  u32 instances = 1u << 20;
  u64 seed() const {
    u64 h = 1;
    for (char ch : mnemonic) h = mix(h ^ static_cast<unsigned char>(ch));
    return mix(h + static_cast<u64>(selector));
  }
  std::string name() const { return selector < 0 ? mnemonic : mnemonic + "#" + std::to_string(selector); }
  u32 inputs() const { return a.regs + b.regs + c.regs + (selector >= 0); }
  u64 input(u64 instance, u32 number, u32 lane) const { return input_of(seed(), instance, number, lane); }
  MMA_FN u64 input_of(u64 s, u64 instance, u32 number, u32 lane) const {
    if (number < a.regs) return reg(s, instance, number, lane, a.kind, kA);
    if (number < a.regs + b.regs) return reg(s, instance, number, lane, b.kind, kB);
    if (number < a.regs + b.regs + c.regs) return reg(s, instance, number, lane, c.kind, kC);
    return reg(s, instance, number, lane, meta, kMeta);
  }
};

inline Operand operand(u32 regs, Kind k) {
  return {regs, k, k == kF32 ? ".f32" : k == kF64 ? ".f64" : ".b32"};
}

inline std::vector<Form> all_forms() {
  std::vector<Form> v;
  auto add = [&](std::string name, u32 a, u32 b, u32 c, Kind ab, Kind cd, u32 wide = 0) -> Form& {
    Form f;
    f.mnemonic = std::move(name);
    f.a = operand(a, ab), f.b = operand(b, ab), f.c = operand(c, cd), f.d = operand(c, cd), f.wide = wide;
    v.push_back(f);
    return v.back();
  };
  auto sparse = [&](std::string name, u32 a, u32 b, u32 c, Kind ab, Kind cd, int selectors, Kind meta = kSparse4) {
    for (const char* sp : {"mma.sp::ordered_metadata.sync.aligned."})
      for (int s = 0; s < selectors; ++s) {
        Form& f = add(sp + name, a, b, c, ab, cd);
        f.selector = s, f.meta = meta;
      }
  };
  const std::string mma = "mma.sync.aligned.";
  add(mma + "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, kF16, kF32);
  add(mma + "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, kBF16, kF32);
  add(mma + "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, kF16, kF16);
  add(mma + "m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, kF16, kF32);
  add(mma + "m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, kBF16, kF32);
  add(mma + "m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, kF16, kF16);
  add(mma + "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, kTF32, kF32);
  add(mma + "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, kTF32, kF32);
  for (const char* at : {"e4m3", "e5m2"})
    for (const char* bt : {"e4m3", "e5m2"})
      for (const char* ct : {"f32", "f16"})
        for (int k : {32, 16}) {
          const Kind c = std::string(ct) == "f32" ? kF32 : kF16;
          Form& f = add(mma + "m16n8k" + std::to_string(k) + ".row.col." + ct + "." + at + "." + bt + "." + ct, k / 8,
                        k / 16, c == kF32 ? 4 : 2, kE4M3, c);
          f.a.kind = std::string(at) == "e4m3" ? kE4M3 : kE5M2, f.b.kind = std::string(bt) == "e4m3" ? kE4M3 : kE5M2;
        }
  add(mma + "m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, kF64, kF64, 1);
  add(mma + "m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4, kF64, kF64, 1);
  add(mma + "m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4, kF64, kF64, 1);
  add(mma + "m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, kF64, kF64, 1);
  for (const char* r : {".rz", ".rm", ".rp", ".rn"})
    add(mma + "m8n8k4.row.col.f64.f64.f64.f64" + r, 1, 1, 2, kF64, kF64, 1);
  for (const char* al : {"row", "col"})
    for (const char* bl : {"row", "col"}) {
      const std::string name = mma + "m8n8k4." + al + "." + bl;
      add(name + ".f16.f16.f16.f16", 2, 2, 4, kF16, kF16);
      add(name + ".f32.f16.f16.f32", 2, 2, 8, kF16, kF32);
      add(name + ".f32.f16.f16.f16", 2, 2, 4, kF16, kF16).d = operand(8, kF32);
    }
  for (const char* sat : {"", ".satfinite"})
    for (const char* at : {"u", "s"})
      for (const char* bt : {"u", "s"}) {
        struct {
          int bits, m, k;
          u32 a, b, c;
        } const shapes[] = {{8, 8, 16, 1, 1, 2}, {8, 16, 16, 2, 1, 4}, {8, 16, 32, 4, 2, 4},
                            {4, 8, 32, 1, 1, 2}, {4, 16, 32, 2, 1, 4}, {4, 16, 64, 4, 2, 4}};
        for (const auto& s : shapes) {
          const std::string n = std::to_string(s.bits);
          add(mma + "m" + std::to_string(s.m) + "n8k" + std::to_string(s.k) + ".row.col" + ".s32." + at + n + "." + bt + n +
                  ".s32" + sat,
              s.a, s.b, s.c, kBits, kS32);
        }
      }
  for (const char* op : {".xor.popc", ".and.popc"}) {
    add(mma + "m8n8k128.row.col.s32.b1.b1.s32" + op, 1, 1, 2, kBits, kS32);
    add(mma + "m16n8k128.row.col.s32.b1.b1.s32" + op, 2, 1, 4, kBits, kS32);
    add(mma + "m16n8k256.row.col.s32.b1.b1.s32" + op, 4, 2, 4, kBits, kS32);
  }
  sparse("m16n8k16.row.col.f32.f16.f16.f32", 2, 2, 4, kF16, kF32, 4);
  sparse("m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, kF16, kF32, 2);
  sparse("m16n8k16.row.col.f16.f16.f16.f16", 2, 2, 2, kF16, kF16, 4);
  sparse("m16n8k32.row.col.f16.f16.f16.f16", 4, 4, 2, kF16, kF16, 2);
  sparse("m16n8k16.row.col.f32.bf16.bf16.f32", 2, 2, 4, kBF16, kF32, 4);
  sparse("m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 4, kBF16, kF32, 2);
  sparse("m16n8k8.row.col.f32.tf32.tf32.f32", 2, 2, 4, kTF32, kF32, 4, kSparse2);
  sparse("m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 4, kTF32, kF32, 2, kSparse2);
  sparse("m16n8k64.row.col.f32.e4m3.e4m3.f32", 4, 4, 4, kE4M3, kF32, 1);
  sparse("m16n8k64.row.col.f32.e5m2.e5m2.f32", 4, 4, 4, kE5M2, kF32, 1);
  sparse("m16n8k32.row.col.s32.s8.s8.s32", 2, 2, 4, kBits, kS32, 2);
  sparse("m16n8k64.row.col.s32.s8.u8.s32.satfinite", 4, 4, 4, kBits, kS32, 1);
  sparse("m16n8k64.row.col.s32.s4.s4.s32", 2, 2, 4, kBits, kS32, 2);
  sparse("m16n8k128.row.col.s32.u4.s4.s32", 4, 4, 4, kBits, kS32, 1);
  return v;
}

}  // namespace mma_inputs
