// SPDX-License-Identifier: Apache-2.0
// Handles of textures and surfaces.
#include <gtest/gtest.h>

#include "memory/texture.h"

namespace us::memory {
namespace {

TEST(TextureTable, AnyNumberMayBeAskedFor) {
  TextureTable table;
  TextureObject t;
  t.magic = TextureObject::kTexture;
  const u64 h = table.add(t);
  ASSERT_NE(h, 0u);
  EXPECT_NE(table.object(h, TextureObject::kTexture), nullptr);
  EXPECT_EQ(table.object(h, TextureObject::kSurface), nullptr);
  const u64 numbers[] = {0, 1, 12345, ~u64{0}, ~u64{0} - 7, h + 1, h + 8, h + 1024, h - 1024, h + (u64{1} << 30), u64{1} << 47,
                         reinterpret_cast<u64>(&t), reinterpret_cast<u64>(&table)};
  for (const u64 n : numbers) {
    EXPECT_EQ(table.object(n, TextureObject::kTexture), nullptr) << n;
    EXPECT_EQ(table.find(n, TextureObject::kTexture), nullptr) << n;
  }
  EXPECT_TRUE(table.remove(h, TextureObject::kTexture));
  EXPECT_NE(table.object(h, TextureObject::kTexture), nullptr);  // kernels that were launched before may read it
  table.bury(h);
  EXPECT_EQ(table.object(h, TextureObject::kTexture), nullptr);
  EXPECT_NE(table.add(t), h);
}

}  // namespace
}  // namespace us::memory
