// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/profile/flops.h"

namespace us::tools {
namespace {

// Twice rows x columns x depth; a warpgroup's tile is done by four warps.
TEST(Flops, OfTiles) {
  EXPECT_EQ(tile_flops("HMMA.16816.F32"), 2 * 16 * 8 * 16);
  EXPECT_EQ(tile_flops("HMMA.1688.F32.TF32"), 2 * 16 * 8 * 8);
  EXPECT_EQ(tile_flops("HMMA.SP.16832.F16"), 2 * 16 * 8 * 32);
  EXPECT_EQ(tile_flops("IMMA.8816.S8.S8"), 2 * 8 * 8 * 16);
  EXPECT_EQ(tile_flops("DMMA.8x8x4"), 2 * 8 * 8 * 4);
  EXPECT_EQ(tile_flops("HGMMA.64x256x16.F32"), 2 * 64 * 256 * 16 / 4);
  for (const char* other : {"FFMA", "HMMA", "HMMA.F32", "DEPBAR.LE", ""}) EXPECT_EQ(tile_flops(other), 0) << other;
}

// FFMA R0, R0, R0, R0 and EXIT, as the assembler writes them.
TEST(Flops, OfALaunch) {
  timing::Listing l;
  l.instructions.push_back({{0x0000000000007223, 0x000fca0000000000}});
  l.instructions.push_back({{0x000000000000794d, 0x000fea0003800000}});
  timing::LaunchProfile p;
  p.listing = std::make_shared<const timing::Listing>(l);
  p.machine = {{.warps = 3, .lanes = 70}, {.warps = 3, .lanes = 96}};
  const Flops f = flops_of(p);
  EXPECT_EQ(f[FlopKind::Fp32], 140);
  EXPECT_EQ(f[FlopKind::Tensor] + f[FlopKind::Fp64] + f[FlopKind::Fp16], 0);
}

}  // namespace
}  // namespace us::tools
