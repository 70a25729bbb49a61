// SPDX-License-Identifier: Apache-2.0
// Reads of a warp against the same reads lane by lane, which recordings judge (tests/programs); handles.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "memory/sample.h"
#include "memory/warp_sample.h"

namespace us::memory {
namespace {

constexpr TextureShape kShapes[] = {TextureShape::D1,         TextureShape::D2,        TextureShape::D3,
                                    TextureShape::D1Layered,  TextureShape::D2Layered, TextureShape::Cube,
                                    TextureShape::CubeLayered};
constexpr TexelType kTypes[] = {TexelType::U8,     TexelType::U16,     TexelType::U32,    TexelType::S8,
                                TexelType::S16,    TexelType::S32,     TexelType::F16,    TexelType::F32,
                                TexelType::Unorm8, TexelType::Unorm16, TexelType::Snorm8, TexelType::Snorm16};

struct Case {
  TextureObject t;
  std::vector<u8> bytes;
};

class Random {
 public:
  explicit Random(u64 seed) : g_(seed) {}
  u32 below(u32 n) { return static_cast<u32>(g_() % n); }
  u64 bits() { return g_(); }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(g_() >> 40) * 0x1p-24f; }

 private:
  std::mt19937_64 g_;
};

// Small numbers, some of them denormal, zero, infinite or none.
float number(Random& r) {
  switch (r.below(24)) {
    case 0:
      return 0;
    case 1:
      return -0.0f;
    case 2:
      return r.between(-1e-38f, 1e-38f);
    case 3:
      return std::ldexp(r.between(-1, 1), static_cast<int>(r.below(250)) - 125);
    default:
      return r.between(-4, 4);
  }
}
void fill(Case& c, Random& r, bool specials) {
  if (c.t.format.type != TexelType::F32) {
    for (u8& b : c.bytes) b = static_cast<u8>(r.bits());
    if (c.t.format.type == TexelType::F16 && !specials)
      for (std::size_t i = 1; i < c.bytes.size(); i += 2) c.bytes[i] &= 0xbb;  // finite
    return;
  }
  for (std::size_t i = 0; i + 4 <= c.bytes.size(); i += 4) {
    float f = number(r);
    if (specials && r.below(40) == 0) f = r.below(2) ? INFINITY : NAN;
    std::memcpy(&c.bytes[i], &f, 4);
  }
}
Case make(TextureShape shape, TexelType type, Random& r, bool specials) {
  Case c;
  TextureObject& t = c.t;
  t.magic = TextureObject::kTexture;
  t.shape = shape;
  t.format = {type, static_cast<u8>(1u << r.below(3))};
  const bool rows = shape != TextureShape::D1 && shape != TextureShape::D1Layered, cube = t.cube();
  const u32 w = 1 + r.below(r.below(4) ? 20 : 3), h = !rows ? 1 : cube ? w : 1 + r.below(14);
  const u32 d = shape == TextureShape::CubeLayered ? 12
                : cube                             ? 6
                : shape == TextureShape::D3        ? 1 + r.below(9)
                : t.layered()                      ? 1 + r.below(5)
                                                   : 1;
  const u64 pitch = (w * t.format.texel_bytes() + 63) / 64 * 64;
  c.bytes.resize(pitch * h * d);
  t.level[0] = {.width = w, .height = h, .depth = d, .pitch = pitch, .slice = pitch * h};
  t.normalised_coords = cube || r.below(2);
  for (AddressMode& m : t.address) m = static_cast<AddressMode>(t.normalised_coords ? r.below(4) : r.below(2) ? 1 : 3);
  t.read_normalised = !t.format.floating() && !t.format.normalised() && t.format.channel_bytes() < 4 && r.below(2);
  t.filter = t.reads_float() && r.below(3) ? FilterMode::Linear : FilterMode::Point;
  t.srgb = r.below(6) == 0 && t.format.channel_bytes() == 1;
  t.seamless_cube = r.below(2);
  for (float& b : t.border) b = r.below(8) ? r.between(-1.5f, 1.5f) : number(r);
  fill(c, r, specials);
  return c;
}

struct Words {
  u64 at[3][kLanes], layer[kLanes], offset[3][kLanes];
};
Words coordinates(const TextureObject& t, Random& r) {
  Words w;
  const bool centres = r.below(4) == 0, far = r.below(3) == 0;
  const bool shifted = r.below(4) == 0;
  for (u32 l = 0; l < kLanes; ++l) {
    w.layer[l] = static_cast<u32>(r.below(8) ? r.below(6) : r.bits());
    for (u32 k = 0; k < 3; ++k) {
      const float size = static_cast<float>(k == 0 ? t.level[0].width : k == 1 ? t.level[0].height : t.level[0].depth);
      float x = t.cube() ? r.between(-1, 1) : r.between(-0.6f, 1.6f);
      if (centres) x = (std::floor(x * size) + 0.5f) / size;
      if (!t.normalised_coords) x *= size;
      if (far && r.below(4) == 0) x *= std::ldexp(1.0f, static_cast<int>(r.below(60)));
      if (far && r.below(16) == 0) x = r.below(3) ? r.below(2) ? INFINITY : -INFINITY : NAN;
      if (r.below(40) == 0) x = static_cast<float>(r.below(3));
      w.at[k][l] = std::bit_cast<u32>(x);
      w.offset[k][l] = static_cast<u32>(shifted ? static_cast<i32>(r.below(16)) - 8 : 0);
    }
  }
  return w;
}
WarpRead read_of(const Words& w, bool layered) {
  WarpRead r;
  r.layer = layered ? w.layer : nullptr;
  for (u32 k = 0; k < 3; ++k) r.at[k] = w.at[k], r.offset[k] = w.offset[k];
  return r;
}
TextureRead lane_of(const Words& w, u32 l, bool layered, bool integer) {
  TextureRead r;
  r.integer = integer;
  if (layered) r.layer = static_cast<u32>(w.layer[l]);
  for (u32 k = 0; k < 3; ++k) {
    r.at[k] = std::bit_cast<float>(static_cast<u32>(w.at[k][l]));
    r.texel[k] = static_cast<i32>(w.at[k][l]);
    r.offset[k] = static_cast<i32>(w.offset[k][l]);
  }
  return r;
}
std::string told(const TextureObject& t, u32 lane, const TextureRead& r) {
  return "shape " + std::to_string(int(t.shape)) + " type " + std::to_string(int(t.format.type)) + "x" +
         std::to_string(t.format.channels) + " filter " + std::to_string(int(t.filter)) + " normalised " +
         std::to_string(t.normalised_coords) + std::to_string(t.read_normalised) + " modes " +
         std::to_string(int(t.address[0])) + std::to_string(int(t.address[1])) + std::to_string(int(t.address[2])) +
         " size " + std::to_string(t.level[0].width) + " " + std::to_string(t.level[0].height) + " " +
         std::to_string(t.level[0].depth) + " lane " + std::to_string(lane) + " at " + std::to_string(r.at[0]) + " " +
         std::to_string(r.at[1]) + " " + std::to_string(r.at[2]);
}

// Returns how many lanes were done together.
u32 compare(const TextureObject& t, const Words& w, bool integer, WarpSampler sampler) {
  WarpTexels got;
  const u32 left = sampler(t, read_of(w, t.layered()), got);
  for (u32 l = 0; l < kLanes; ++l) {
    if (left >> l & 1) continue;
    const TextureRead r = lane_of(w, l, t.layered(), integer);
    const Texel want = sample(t, r);
    for (u32 c = 0; c < t.format.channels; ++c) {
      if (want.c[c] == got.c[c][l]) continue;
      ADD_FAILURE() << told(t, l, r) << " channel " << c << std::hex << " want " << want.c[c] << " got " << got.c[c][l];
      return kLanes;
    }
  }
  return static_cast<u32>(std::popcount(~left));
}

TEST(WarpSample, SameAsLaneByLane) {
  Random r(7);
  u64 together = 0, all = 0;
  for (u32 round = 0; round < 20 && !testing::Test::HasFailure(); ++round)
    for (const TextureShape shape : kShapes)
      for (const TexelType type : kTypes) {
        Case c = make(shape, type, r, round % 4 == 0);
        c.t.level[0].data = reinterpret_cast<u64>(c.bytes.data());
        const WarpSampler sampler = warp_sampler(c.t);
        for (u32 k = 0; sampler && k < 8; ++k, all += kLanes)
          together += compare(c.t, coordinates(c.t, r), false, sampler);
      }
  EXPECT_GT(together, all * 8 / 10);
}

TEST(WarpSample, IntegerCoordinates) {
  Random r(8);
  for (u32 round = 0; round < 20 && !testing::Test::HasFailure(); ++round)
    for (const TextureShape shape : kShapes)
      for (const TexelType type : kTypes) {
        Case c = make(shape, type, r, false);
        c.t.level[0].data = reinterpret_cast<u64>(c.bytes.data());
        const WarpSampler fetcher = warp_fetcher(c.t);
        if (!fetcher) continue;
        Words w = coordinates(c.t, r);
        for (auto& at : w.at)
          for (u64& x : at)
            x = static_cast<u32>(r.below(10) ? static_cast<i32>(r.below(24)) - 2 : static_cast<i32>(r.bits()));
        EXPECT_EQ(compare(c.t, w, true, fetcher), kLanes);
      }
}

TEST(WarpSample, LargeTextures) {  // coordinates have one more fraction bit
  Random r(9);
  for (const FilterMode filter : {FilterMode::Point, FilterMode::Linear}) {
    Case c;
    TextureObject& t = c.t;
    t.format = {TexelType::U8, 1};
    t.read_normalised = t.normalised_coords = true;
    t.filter = filter;
    t.level[0] = {.width = 9000, .height = 70, .pitch = 9024, .slice = 9024 * 70};
    c.bytes.resize(9024 * 70);
    fill(c, r, false);
    t.level[0].data = reinterpret_cast<u64>(c.bytes.data());
    for (const AddressMode m : {AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border}) {
      t.address.fill(m);
      for (u32 k = 0; k < 100; ++k) compare(t, coordinates(t, r), false, warp_sampler(t));
    }
  }
}

TEST(TextureTable, AnyNumberMayBeAskedFor) {
  TextureTable table;
  TextureObject t;
  t.magic = TextureObject::kTexture;
  const u64 h = table.add(t);
  ASSERT_NE(h, 0u);
  EXPECT_NE(table.object(h, TextureObject::kTexture), nullptr);
  EXPECT_EQ(table.object(h, TextureObject::kSurface), nullptr);
  const u64 numbers[] = {0,
                         1,
                         12345,
                         ~u64{0},
                         ~u64{0} - 7,
                         h + 1,
                         h + 8,
                         h + 1024,
                         h - 1024,
                         h + (u64{1} << 30),
                         u64{1} << 47,
                         reinterpret_cast<u64>(&t),
                         reinterpret_cast<u64>(&table)};
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
