// SPDX-License-Identifier: Apache-2.0
// The forms of wgmma.mma_async that are recorded: every type on 64x8 tiles,
// and every way to lay out matrices in shared memory.
#pragma once
#include <string>
#include <vector>

#include "mma_inputs.h"

namespace mma_inputs {

struct WideForm {
  std::string types;  // "f32.f16.f16"
  u32 n = 8, k = 16;
  bool registers = false;  // a, four registers of each lane
  bool sparse = false;
  u32 selector = 0;
  Kind a = kF16, b = kF16, c = kF32, meta = kSparse4;
  std::string suffix;  // ".satfinite"
  bool keep = true;    // scale-d
  int scale_a = 1, scale_b = 1;
  u32 trans_a = 0, trans_b = 0;
  u32 start_a = 0, start_b = 8192;  // bytes from the start of shared memory, which is aligned to 1024
  u32 lead_a = 128, stride_a = 256, lead_b = 128, stride_b = 256;
  u32 swizzle_a = 0, swizzle_b = 0, base_a = 0, base_b = 0;
  u32 shared_bytes = 16384;
  u32 instances = 1u << 16;

  std::string name() const {
    auto num = [](u32 x) { return std::to_string(x); };
    std::string s = "m64n" + num(n) + "k" + num(k) + "." + types + suffix;
    if (sparse) s += ",sp" + num(selector);
    if (registers) s += ",r";
    if (!keep) s += ",zero";
    if (scale_a < 0 || scale_b < 0) s += ",scale" + std::to_string(scale_a) + "/" + std::to_string(scale_b);
    if (shared_bytes > 16384)
      s += ",a" + num(start_a) + ":" + num(lead_a) + ":" + num(stride_a) + ":" + num(swizzle_a) + ":" + num(base_a) + ":" +
           num(trans_a) + ",b" + num(start_b) + ":" + num(lead_b) + ":" + num(stride_b) + ":" + num(swizzle_b) + ":" +
           num(base_b) + ":" + num(trans_b);
    return s;
  }
  u64 seed() const {
    u64 h = 2;
    for (char ch : name()) h = mix(h ^ static_cast<unsigned char>(ch));
    return h;
  }
  bool narrow_c() const { return c == kF16; }
  u32 c_regs() const { return narrow_c() ? n / 4 : n / 2; }
  // Words of one instance: shared memory, registers of a, registers of c, metadata. Registers lie 128 lanes to a row.
  u32 shared_words() const { return shared_bytes / 4; }
  u32 words() const { return shared_words() + 128 * ((registers ? 4 : 0) + c_regs() + sparse); }
  MMA_FN u64 input_of(u64 s, u64 instance, u32 word) const {
    const u32 shared = shared_bytes / 4, row = word / 32, lane = word % 32;
    if (word < shared) {
      const bool of_b = shared_bytes > 16384 ? (word & 1) != 0 : word >= 2048;
      return reg(s, instance, row, lane, of_b ? b : a, of_b ? kB : kA);
    }
    u32 r = (word - shared) / 128;
    if (registers && r < 4) return reg(s, instance, row, lane, a, kA);
    if (registers) r -= 4;
    return r < (c == kF16 ? n / 4 : n / 2) ? reg(s, instance, row, lane, c, kC) : reg(s, instance, row, lane, meta, kMeta);
  }
};

inline std::vector<WideForm> wide_forms() {
  std::vector<WideForm> v;
  auto add = [&](std::string types, u32 k, Kind a, Kind b, Kind c) -> WideForm& {
    WideForm f;
    f.types = std::move(types), f.k = k, f.a = a, f.b = b, f.c = c;
    v.push_back(f);
    return v.back();
  };
  struct Type {
    const char* types;
    u32 k;
    Kind a, b, c;
  };
  const Type types[] = {{"f32.f16.f16", 16, kF16, kF16, kF32},     {"f16.f16.f16", 16, kF16, kF16, kF16},
                        {"f32.bf16.bf16", 16, kBF16, kBF16, kF32}, {"f32.tf32.tf32", 8, kTF32, kTF32, kF32},
                        {"f32.e4m3.e4m3", 32, kE4M3, kE4M3, kF32}, {"f32.e4m3.e5m2", 32, kE4M3, kE5M2, kF32},
                        {"f32.e5m2.e4m3", 32, kE5M2, kE4M3, kF32}, {"f32.e5m2.e5m2", 32, kE5M2, kE5M2, kF32},
                        {"f16.e4m3.e4m3", 32, kE4M3, kE4M3, kF16}, {"f16.e4m3.e5m2", 32, kE4M3, kE5M2, kF16},
                        {"f16.e5m2.e4m3", 32, kE5M2, kE4M3, kF16}, {"f16.e5m2.e5m2", 32, kE5M2, kE5M2, kF16},
                        {"s32.s8.s8", 32, kBits, kBits, kS32},     {"s32.u8.u8", 32, kBits, kBits, kS32},
                        {"s32.s8.u8", 32, kBits, kBits, kS32},     {"s32.u8.s8", 32, kBits, kBits, kS32}};
  for (const Type& t : types)
    for (bool registers : {false, true}) add(t.types, t.k, t.a, t.b, t.c).registers = registers;
  for (const char* t : {"s32.s8.s8", "s32.u8.s8"}) add(t, 32, kBits, kBits, kS32).suffix = ".satfinite";
  for (bool registers : {false, true}) {
    WideForm& f = add("s32.b1.b1", 256, kBits, kBits, kS32);
    f.registers = registers, f.suffix = ".and.popc";
  }
  for (const Type& t : {types[0], types[1], types[3], types[4]})
    for (int negative : {1, 2, 3}) {
      WideForm& f = add(t.types, t.k, t.a, t.b, t.c);
      f.scale_a = negative & 1 ? -1 : 1, f.scale_b = negative & 2 ? -1 : 1, f.instances = 4096;
    }
  for (const Type& t : {types[0], types[1], types[4], types[12]}) {
    WideForm& f = add(t.types, t.k, t.a, t.b, t.c);
    f.keep = false, f.instances = 4096;
  }
  // Sparse: twice the depth.
  for (const Type& t : types)
    for (u32 selector : {0, 1}) {
      if (t.k == 32 && selector) continue;
      WideForm& f = add(t.types, t.k * 2, t.a, t.b, t.c);
      f.sparse = true, f.selector = selector, f.meta = t.a == kTF32 ? kSparse2 : kSparse4;
      f.stride_b = 512;
    }
  // Layouts: lead, stride, swizzle, start, base offset, transposed
  struct Layout {
    u32 lead, stride, swizzle, start, base, trans;
  };
  const Layout layouts[] = {{128, 256, 0, 0, 0, 0},    {2048, 128, 0, 0, 0, 0},     {1040, 144, 0, 48, 0, 0},
                            {16, 256, 3, 0, 0, 0},     {16, 512, 2, 0, 0, 0},       {16, 1024, 1, 0, 0, 0},
                            {16, 1024, 1, 32, 0, 0},   {16, 1024, 1, 96, 0, 0},     {16, 512, 2, 32, 0, 0},
                            {16, 1024, 1, 256, 0, 0},  {16, 1024, 1, 256, 2, 0},    {16, 1024, 1, 384, 5, 0},
                            {48, 1152, 1, 0, 0, 0},    {16, 768, 2, 128, 1, 0},     {128, 256, 0, 0, 0, 1},
                            {256, 128, 0, 0, 0, 1},    {256, 512, 3, 0, 0, 1},      {512, 1024, 2, 0, 0, 1},
                            {2048, 1024, 1, 0, 0, 1},  {1024, 2048, 1, 0, 0, 1},    {2048, 1024, 1, 128, 0, 1},
                            {2048, 1024, 1, 256, 2, 1}, {4096, 1024, 1, 1024, 0, 1}, {512, 256, 3, 0, 0, 1}};
  for (const Layout& l : layouts)
    for (u32 n : {8, 32, 136})
      for (bool of_b : {false, true}) {
        if (!of_b && n != 32) continue;
        WideForm& f = add("f32.f16.f16", 16, kF16, kF16, kF32);
        f.n = n, f.shared_bytes = 49152, f.instances = 256, f.start_b = 16384;
        u32& start = of_b ? f.start_b : f.start_a;
        start += l.start;
        (of_b ? f.lead_b : f.lead_a) = l.lead, (of_b ? f.stride_b : f.stride_a) = l.stride;
        (of_b ? f.swizzle_b : f.swizzle_a) = l.swizzle, (of_b ? f.base_b : f.base_a) = l.base;
        (of_b ? f.trans_b : f.trans_a) = l.trans;
        if (l.trans) continue;
        const WideForm of_f = f;
        for (const Type& t : {types[3], types[12]}) {  // K-major ones with other types
          if (n != 32) continue;
          WideForm g = of_f;
          g.types = t.types, g.k = t.k, g.a = t.a, g.b = t.b, g.c = t.c;
          v.push_back(g);
        }
        if (of_b && n == 32) {
          WideForm g = of_f;
          g.sparse = true, g.k = 32;
          v.push_back(g);
        }
      }
  for (u32 n : {64, 256}) {
    WideForm& f = add("f16.f16.f16", 16, kF16, kF16, kF16);
    f.n = n, f.instances = 256;
  }
  return v;
}

}  // namespace mma_inputs
