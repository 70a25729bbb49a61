// SPDX-License-Identifier: Apache-2.0
// Matrix instructions against the recordings of an H200 (oracle/numerics/mma.txt): the same arguments are made again
// and the hashes of the answers compared. MMA_LEVELS=n compares n sums for each form (7: all 2^20 instances),
// MMA_ONLY=TEXT only some forms.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "codegen/semantics/matrix.h"
#include "device/matrix/fragments.h"
#include "isa/isa.h"
#include "mma_forms.h"

namespace us {
namespace {

using mma_inputs::Form;

device::MmaCode code_of(const Form& f) {
  const isa::Match m = isa::match(f.mnemonic);
  EXPECT_NE(m.form, isa::Form::Unknown) << f.mnemonic;
  device::MmaCode code = codegen::mma_code(m.toks, m.types);
  const std::string semantics(isa::info(m.form).semantics);
  code.a_column = semantics == "sem_mma_col_row" || semantics == "sem_mma_col_col";
  code.b_row = semantics == "sem_mma_row_row" || semantics == "sem_mma_col_row";
  if (f.selector >= 0) code.selector = static_cast<u8>(f.selector);
  return code;
}

u64 hash_of(const Form& f, const device::MmaCode& code, u64 seed, u64 group) {
  u64 sum = 0;
  std::vector<u64> in(f.inputs() * 32), out(f.d.regs * 32);
  for (u32 k = 0; k < 256; ++k) {
    for (u32 n = 0; n < f.inputs(); ++n)
      for (u32 l = 0; l < 32; ++l) in[n * 32 + l] = f.input_of(seed, group * 256 + k, n, l);
    device::multiply_fragments(code, in.data(), out.data());
    for (u32 w = 0; w < out.size(); ++w)
      sum += mma_inputs::hashed(f.wide ? out[w] : static_cast<u32>(out[w]), k * out.size() + w);
  }
  return sum;
}

TEST(Mma, EqualsTheRecordings) {
  std::map<std::string, std::vector<u64>> recorded;
  std::ifstream file(US_SOURCE_DIR "/oracle/numerics/mma.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (std::string h; words >> h;) recorded[name].push_back(std::stoull(h, nullptr, 16));
  }
  const char *levels = std::getenv("MMA_LEVELS"), *only = std::getenv("MMA_ONLY");
  const u32 compared = levels ? static_cast<u32>(std::atoi(levels)) : 2;
  for (const Form& f : mma_inputs::all_forms()) {
    if (only && f.name().find(only) == std::string::npos) continue;
    const std::vector<u64>& sums = recorded[f.name()];
    ASSERT_FALSE(sums.empty()) << f.name();
    const device::MmaCode code = code_of(f);
    const u64 seed = f.seed();
    u64 group = 0, end = 1;
    for (u32 level = 0; level < std::min<std::size_t>(compared, sums.size()); ++level, end *= 4) {
      u64 sum = 0;
      for (; group < end; ++group) sum += hash_of(f, code, seed, group);
      EXPECT_EQ(sum, sums[level]) << f.name() << " level " << level;
      if (sum != sums[level]) break;
    }
  }
}

// The fast way and the plain one
TEST(Mma, FastEqualsReference) {
  using numerics::MmaType;
  const std::pair<MmaType, mma_inputs::Kind> types[] = {{MmaType::F16, mma_inputs::kF16},
                                                        {MmaType::BF16, mma_inputs::kBF16},
                                                        {MmaType::TF32, mma_inputs::kTF32},
                                                        {MmaType::E4M3, mma_inputs::kE4M3},
                                                        {MmaType::E5M2, mma_inputs::kE5M2}};
  numerics::MmaTile t, u;
  for (auto [type, kind] : types)
    for (u32 fraction : {13u, 25u})
      for (u32 round = 0; round < 200; ++round) {
        const u32 bits = numerics::bits_of(type), pattern = round % 16, shift = type == MmaType::TF32 ? 13 : 0;
        auto any = [&](mma_inputs::Kind as, u32 role, u64 place) {
          return static_cast<u32>(mma_inputs::element(as, role, pattern, mma_inputs::mix(round * 100000 + place)));
        };
        for (u32 k = 0; k < 32; ++k) {
          for (u32 i = 0; i < 16; ++i) {
            t.a[k][i] = any(kind, mma_inputs::kA, k * 64 + i) >> shift;
            if (pattern == 3 && (i + k) % 3 == 0) t.a[k][i] = numerics::kMmaAbsent;
          }
          for (u32 j = 0; j < 8; ++j) t.b[k][j] = any(kind, mma_inputs::kB, k * 64 + 16 + j) >> shift;
        }
        (void)bits;
        const bool half = round % 32 < 8;
        for (u32 j = 0; j < 8; ++j)
          for (u32 i = 0; i < 16; ++i)
            t.c[j][i] = any(half ? mma_inputs::kF16 : mma_inputs::kF32, mma_inputs::kC, 5000 + j * 16 + i);
        u = t;
        const numerics::MmaStep step{type, type, half ? MmaType::F16 : MmaType::F32, fraction, 0, 32};
        numerics::mma_step(step, t);
        numerics::mma_step_reference(step, u);
        for (u32 j = 0; j < 8; ++j)
          for (u32 i = 0; i < 16; ++i)
            ASSERT_EQ(t.d[j][i], u.d[j][i]) << int(type) << " " << round << " " << i << " " << j;
      }
}

}  // namespace
}  // namespace us
