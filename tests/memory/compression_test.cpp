// SPDX-License-Identifier: Apache-2.0
#include "memory/compression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace us::memory {
namespace {

using Line = std::array<u8, kLine>;

template <class T>
Line line_of(T (*f)(u32)) {
  Line l;
  for (u32 i = 0; i < kLine / sizeof(T); ++i) {
    const T v = f(i);
    std::memcpy(l.data() + i * sizeof v, &v, sizeof v);
  }
  return l;
}

// What a decoder has: the code, and a delta of `width` bits per element.
template <class T>
void check_lossless(const Line& line, const LineCode& c) {
  constexpr u32 count = kLine / sizeof(T);
  T v[count];
  std::memcpy(v, line.data(), kLine);
  for (u32 i = 1; i < count; ++i) {
    const T difference = static_cast<T>(v[i] - v[0]);
    const i64 delta = static_cast<i64>(static_cast<std::make_signed_t<T>>(difference)) >> c.shift;
    const u32 spare = 64 - std::max(c.width, 1u);
    const i64 stored =
        c.width ? static_cast<i64>(static_cast<u64>(delta) << spare) >> spare : 0;  // as it comes out of `width` bits
    EXPECT_EQ(static_cast<T>(static_cast<T>(c.base) + static_cast<T>(static_cast<u64>(stored) << c.shift)), v[i]);
  }
  EXPECT_EQ(c.bits, 8 * sizeof(T) + 12 + (count - 1) * c.width);
}

void check_lossless(const Line& line) {
  const LineCode c = encode_line(line.data());
  if (c.factor() == 1) return;
  if (c.element == 2) check_lossless<u16>(line, c);
  if (c.element == 4) check_lossless<u32>(line, c);
  if (c.element == 8) check_lossless<u64>(line, c);
}

u32 factor(const Line& l) {
  check_lossless(l);
  return encode_line(l.data()).factor();
}

TEST(Compression, EqualWords) {
  EXPECT_EQ(factor(Line{}), 4u);
  EXPECT_EQ(factor(line_of<u32>([](u32) { return 0xdeadbeefu; })), 4u);
  EXPECT_EQ(factor(line_of<double>([](u32) { return 0.1; })), 4u);
}

TEST(Compression, SmallDifferences) {
  EXPECT_EQ(factor(line_of<u32>([](u32 i) { return 1000000 + i; })), 4u);
  EXPECT_EQ(factor(line_of<u64>([](u32 i) { return 0x7f0000000000u + 48 * i; })), 4u);
  EXPECT_EQ(factor(line_of<u32>([](u32 i) { return i % 2 ? 5000 + i : 9000 - i; })), 2u);
  EXPECT_EQ(factor(line_of<u16>([](u32 i) { return static_cast<u16>(300 + i); })), 2u);
}

// float4 elements {i, i, i, i}, as in the published measurements, from small numbers to large ones.
TEST(Compression, RunsOfFloats) {
  static u32 first;
  for (first = 0; first < 40000000; first = first * 3 + 8)
    EXPECT_EQ(factor(line_of<float>([](u32 i) { return static_cast<float>(first + i / 4); })), first < 8 ? 2u : 4u)
        << first;
}

TEST(Compression, RandomWordsStay) {
  static std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(factor(line_of<u32>([](u32) { return static_cast<u32>(random()); })), 1u);
}

// Whatever the width, nothing is lost.
TEST(Compression, Lossless) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20000; ++round) {
    Line l;
    const u64 base = random(), mask = (u64(1) << (random() % 40)) - 1, shift = random() % 20;
    const u32 size = 2u << random() % 3;
    for (u32 at = 0; at < kLine; at += size) {
      const u64 v = base + ((random() & mask) << shift) - ((random() & mask) << shift);
      std::memcpy(l.data() + at, &v, size);
    }
    check_lossless(l);
  }
}

TEST(Compression, CountsWholeLines) {
  std::vector<u8> bytes(3 * kLine + 100);
  std::mt19937 random(3);
  for (u32 i = 0; i < kLine; ++i) bytes[i] = static_cast<u8>(random());
  for (u32 i = 0; i < kLine / 4; ++i) {
    const u32 v = 3000 * (i % 4) + i;
    std::memcpy(bytes.data() + kLine + 4 * i, &v, 4);
  }
  const Compressibility c = measure_compression(bytes);
  EXPECT_EQ(c.lines, 3u);
  EXPECT_EQ(c.by_factor[0], 1u);
  EXPECT_EQ(c.by_factor[1], 1u);
  EXPECT_EQ(c.by_factor[2], 1u);
  EXPECT_EQ(c.bytes_moved(), 128u + 64 + 32);
}

}  // namespace
}  // namespace us::memory
