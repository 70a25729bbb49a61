// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async against the recordings of an H200 (oracle/numerics/wgmma.txt). WGMMA_LEVELS=n compares n sums for
// each form (7: all 2^16 instances), MMA_ONLY=TEXT only some forms.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "codegen/semantics/matrix.h"
#include "device/matrix/fragments.h"
#include "wgmma_forms.h"

namespace us {
namespace {

using mma_inputs::WideForm;

device::MmaCode code_of(const WideForm& f) {
  const std::string mnemonic = std::string("wgmma.mma_async") + (f.sparse ? ".sp" : "") + ".sync.aligned.m64n" +
                               std::to_string(f.n) + "k" + std::to_string(f.k) + "." + f.types + f.suffix;
  const isa::Match m = isa::match(mnemonic);
  EXPECT_NE(m.form, isa::Form::Unknown) << mnemonic;
  std::array<isa::Type, 4> types{m.types[0], m.types[1], m.types[2], m.types[0]};
  device::MmaCode code = codegen::mma_code(m.toks, types);
  code.m = 16;
  code.selector = static_cast<u8>(f.selector);
  code.a_registers = f.registers;
  code.negate_a = f.scale_a < 0, code.negate_b = f.scale_b < 0;
  code.a_column = f.trans_a, code.b_row = f.trans_b;
  return code;
}

u64 descriptor(u32 start, u32 lead, u32 stride, u32 base, u32 swizzle) {
  return u64{start >> 4} | u64{lead >> 4} << 16 | u64{stride >> 4} << 32 | u64{base} << 49 | u64{swizzle} << 62;
}

struct Runner {
  const WideForm& f;
  device::MmaCode code;
  u64 seed;
  std::vector<u8> shared = std::vector<u8>(256 * 1024);
  std::vector<u32> in, out;

  explicit Runner(const WideForm& form)
      : f(form), code(code_of(form)), seed(form.seed()), in(form.words()), out(form.c_regs() * 128) {}
  void run(u64 instance) {
    for (u32 w = 0; w < in.size(); ++w) in[w] = static_cast<u32>(f.input_of(seed, instance, w));
    std::memcpy(shared.data(), in.data(), f.shared_bytes);
    const u64 a = descriptor(f.start_a, f.lead_a, f.stride_a, f.base_a, f.swizzle_a);
    const u64 b = descriptor(f.start_b, f.lead_b, f.stride_b, f.base_b, f.swizzle_b);
    const u32 each = f.narrow_c() ? 2 : 4, c_row = f.registers ? 4 : 0;
    for (u32 warp = 0; warp < 4; ++warp)
      for (u32 tile = 0; tile < f.n / 8; ++tile) {
        auto row = [&](u32 r, u32 l) -> u32& { return in[f.shared_words() + r * 128 + warp * 32 + l]; };
        u64 registers[9 * 32] = {}, results[4 * 32];
        for (u32 l = 0; l < 32; ++l) {
          for (u32 r = 0; r < 4 && f.registers; ++r) registers[r * 32 + l] = row(r, l);
          if (f.sparse) registers[4 * 32 + l] = row(c_row + f.c_regs(), l);
          for (u32 e = 0; e < each && f.keep; ++e) registers[(5 + e) * 32 + l] = row(c_row + tile * each + e, l);
        }
        code.tile = static_cast<u8>(tile);
        device::multiply_tile(device::MmaCode::unpack(code.pack()), shared.data(), warp, a, b, registers, results);
        for (u32 e = 0; e < each; ++e)
          for (u32 l = 0; l < 32; ++l)
            out[(tile * each + e) * 128 + warp * 32 + l] = static_cast<u32>(results[e * 32 + l]);
      }
  }
};

TEST(Wgmma, EqualsTheRecordings) {
  std::ifstream file(US_SOURCE_DIR "/oracle/numerics/wgmma.txt");
  const char *levels = std::getenv("WGMMA_LEVELS"), *only = std::getenv("MMA_ONLY");
  const u32 compared = levels ? static_cast<u32>(std::atoi(levels)) : 1;
  for (const WideForm& f : mma_inputs::wide_forms()) {
    std::string line, name;
    ASSERT_TRUE(std::getline(file, line));
    std::istringstream words(line);
    words >> name;
    ASSERT_EQ(name, f.name());  // in the order of the forms, whose names may repeat
    if (only && name.find(only) == std::string::npos) continue;
    Runner runner(f);
    u64 instance = 0, end = 16;
    std::string hash;
    for (u32 level = 0; level < compared && words >> hash; ++level, end *= 4) {
      u64 sum = 0;
      for (; instance < end; ++instance) {
        runner.run(instance);
        for (u32 w = 0; w < runner.out.size(); ++w)
          sum += mma_inputs::hashed(runner.out[w], instance % 16 * runner.out.size() + w);
      }
      EXPECT_EQ(sum, std::stoull(hash, nullptr, 16)) << name << " level " << level;
    }
  }
}

}  // namespace
}  // namespace us
