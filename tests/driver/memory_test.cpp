// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_jit.h"

namespace us::driver {
namespace {

using memory::Kind;
using test::Bench;

struct Memory : testing::Test {
  Memory()
      : bench(([] {
          test::define_kernel("none", [](device::WarpCtx&, u32) {});
          return "none";
        })()),
        c(bench.context) {}
  u64 take(u64 bytes, Kind k = Kind::Device) {
    u64 at = 0;
    EXPECT_EQ(c.allocate(bytes, k, 0, at), Error::Success);
    return at;
  }
  Error copy(u64 dst, u64 src, u64 n, CopyKind k, bool async = false) {
    return c.submit(CopyOp{{.dst = dst, .src = src, .width = n}, k}, c.legacy_stream(), async);
  }
  Bench bench;
  Context& c;
};
u64 at(const void* p) { return reinterpret_cast<u64>(p); }

TEST_F(Memory, CopiesInAllDirections) {
  const u64 d1 = take(4096), d2 = take(100), h = take(64, Kind::Host), m = take(64, Kind::Managed);
  std::vector<u8> in(64), out(64);
  for (u8 i = 0; i < 64; ++i) in[i] = i;
  EXPECT_EQ(copy(d1, at(in.data()), 64, CopyKind::HostToDevice), Error::Success);
  EXPECT_EQ(copy(d2, d1, 64, CopyKind::DeviceToDevice), Error::Success);
  EXPECT_EQ(copy(h, d2, 64, CopyKind::DeviceToHost, true), Error::Success);
  EXPECT_EQ(copy(m, h, 64, CopyKind::Default, true), Error::Success);
  EXPECT_EQ(copy(at(out.data()), m, 64, CopyKind::Default), Error::Success);
  EXPECT_EQ(in, out);
}

TEST_F(Memory, ExtentsThatOverflowAreOutside) {
  const u64 d = take(4096);
  std::vector<u8> in(64);
  for (const u64 n : {~u64(0), ~u64(0) - d + 2, u64(1) << 63}) {
    EXPECT_EQ(copy(d, at(in.data()), n, CopyKind::HostToDevice), Error::InvalidValue);
    EXPECT_EQ(copy(d + 3, at(in.data()), n, CopyKind::HostToDevice, true), Error::InvalidValue);
    EXPECT_EQ(copy(at(in.data()), d, n, CopyKind::DeviceToHost), Error::InvalidValue);
    EXPECT_EQ(c.submit(FillOp{{.dst = d, .width = n, .element = 1}}, c.legacy_stream(), false), Error::InvalidValue);
    EXPECT_EQ(c.submit(FillOp{{.dst = d, .pitch = n, .width = 1, .height = 5}}, c.legacy_stream(), true),
              Error::InvalidValue);
  }
  // 2^32 rows of 2^32 bytes are not none.
  EXPECT_EQ(c.submit(FillOp{{.dst = d, .pitch = 1ull << 32, .width = 1ull << 32, .height = 1ull << 32}},
                     c.legacy_stream(), false),
            Error::InvalidValue);
}

TEST_F(Memory, StagesPageableSources) {
  const u64 d = take(16);
  std::atomic<bool> go = false;
  EXPECT_EQ(c.submit(CallbackOp{[&] {
                       while (!go) std::this_thread::yield();
                     }},
                     c.legacy_stream()),
            Error::Success);
  u32 value = 1, out = 0;
  EXPECT_EQ(copy(d, at(&value), 4, CopyKind::HostToDevice, true), Error::Success);
  value = 2;  // the call has read it already
  go = true;
  EXPECT_EQ(copy(at(&out), d, 4, CopyKind::DeviceToHost), Error::Success);
  EXPECT_EQ(out, 1u);
}

TEST_F(Memory, RefusesWrongCopies) {
  const u64 d = take(1 << 20);
  u8 host[16] = {};
  EXPECT_EQ(copy(at(host), at(host) + 8, 8, CopyKind::HostToDevice), Error::InvalidValue);
  EXPECT_EQ(copy(d, at(host), 8, CopyKind::DeviceToDevice), Error::InvalidValue);
  EXPECT_EQ(copy(d + (1 << 20) - 8, at(host), 16, CopyKind::HostToDevice), Error::InvalidValue);
  EXPECT_EQ(copy(0, at(host), 8, CopyKind::HostToDevice), Error::InvalidValue);
  EXPECT_EQ(copy(d, at(host), 0, CopyKind::HostToDevice), Error::Success);
}

TEST_F(Memory, CopiesPitchedAndFills) {
  const u64 d = take(64 * 8);
  EXPECT_EQ(
      c.submit(FillOp{{.dst = d, .width = 64 * 8 / 4, .value = 0x01020304, .element = 4}}, c.legacy_stream(), false),
      Error::Success);
  EXPECT_EQ(
      c.submit(FillOp{{.dst = d + 4, .pitch = 64, .width = 8, .height = 8, .value = 0xff}}, c.legacy_stream(), true),
      Error::Success);
  std::vector<u8> out(16 * 8);
  const Copy back{.dst = at(out.data()), .src = d, .width = 16, .height = 8, .dst_pitch = 16, .src_pitch = 64};
  EXPECT_EQ(c.submit(CopyOp{back, CopyKind::DeviceToHost}, c.legacy_stream(), false), Error::Success);
  for (u32 y = 0; y < 8; ++y)
    for (u32 x = 0; x < 16; ++x) EXPECT_EQ(out[y * 16 + x], x >= 4 && x < 12 ? 0xff : 4 - x % 4);
}

TEST_F(Memory, FreesOnlyWhatIsAllocated) {
  const u64 d = take(1000), h = take(1000, Kind::Host);
  EXPECT_EQ(c.free(d + 256), Error::InvalidValue);
  EXPECT_EQ(c.free(h), Error::InvalidValue);
  EXPECT_EQ(c.free(d), Error::Success);
  EXPECT_EQ(c.free(d), Error::InvalidValue);
  EXPECT_EQ(c.free(0), Error::Success);
  EXPECT_EQ(c.free_host(h), Error::Success);
  u8 host[64];
  EXPECT_EQ(c.free(at(host)), Error::InvalidValue);
  EXPECT_EQ(copy(d, at(host), 16, CopyKind::HostToDevice), Error::InvalidValue);  // freed
}

TEST_F(Memory, CountsAgainstTheDevice) {
  u64 before = 0, after = 0, total = 0, big = 0;
  c.device().mem_info(before, total);
  EXPECT_EQ(total, 150109880320u);
  EXPECT_EQ(before, 149557477376u);  // as an H200 with one fresh context reports
  EXPECT_EQ(c.allocate(total, Kind::Device, 0, big), Error::OutOfMemory);
  const u64 half = take(total / 2);
  EXPECT_EQ(c.allocate(total / 2, Kind::Device, 0, big), Error::OutOfMemory);
  EXPECT_EQ(c.free(half), Error::Success);
  c.device().mem_info(after, total);
  EXPECT_EQ(before, after);
}

TEST_F(Memory, HostRegistration) {
  std::vector<u8> block(8192);
  EXPECT_EQ(c.register_host(at(block.data()), 8192, 0), Error::Success);
  EXPECT_EQ(c.register_host(at(block.data()) + 100, 100, 0), Error::HostMemoryAlreadyRegistered);
  EXPECT_EQ(c.unregister_host(at(block.data()) + 1), Error::InvalidValue);
  EXPECT_EQ(c.unregister_host(at(block.data())), Error::Success);
  EXPECT_EQ(c.unregister_host(at(block.data())), Error::HostMemoryNotRegistered);
}

TEST_F(Memory, ManyAllocations) {
  std::vector<u64> all;
  for (u32 i = 0; i < 40000; ++i) all.push_back(take(1 + i % 5000));
  for (size_t i = 0; i < all.size(); i += 2) EXPECT_EQ(c.free(all[i]), Error::Success);
  for (size_t i = 1; i < all.size(); i += 2) EXPECT_EQ(c.free(all[i]), Error::Success);
}

TEST_F(Memory, AnAccessAfterFreeFaults) {
  const u64 d = take(1 << 20);
  *reinterpret_cast<volatile int*>(d) = 1;
  EXPECT_EQ(c.free(d), Error::Success);
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(d) = 1, "");
}

// As on the device, whose pages are of 2 MB: what lies behind a big allocation in its last page is there, no more.
TEST_F(Memory, ABigAllocationEndsWithItsLastTwoMegabytes) {
  constexpr u64 kPage = 2 << 20, kBytes = 2 * kPage + 8;
  const u64 d = take(kBytes), behind = take(kPage);
  EXPECT_TRUE(behind >= d + 3 * kPage || behind + kPage <= d);
  volatile u8* p = reinterpret_cast<u8*>(d);
  p[kBytes] = 7;
  p[3 * kPage - 1] = 9;
  EXPECT_EQ(p[kBytes], 7);
  EXPECT_DEATH(p[3 * kPage] = 1, "");
  u8 host[16] = {};
  EXPECT_EQ(copy(d + 2 * kPage + 4096 - 8, at(host), 16, CopyKind::HostToDevice),
            Error::InvalidValue);  // copies know the size
  EXPECT_EQ(c.free(d), Error::Success);
  EXPECT_DEATH(p[kBytes] = 1, "");
  volatile u8* small = reinterpret_cast<u8*>(take(kPage - 4096));
  EXPECT_DEATH(small[kPage - 4096] = 1, "");
}

}  // namespace
}  // namespace us::driver
