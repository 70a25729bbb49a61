// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "driver/code/occupancy.h"
#include "fake_jit.h"

namespace us::driver {
namespace {

using test::Bench;
using test::define_kernel;
using test::global_thread;
using test::param;

TEST(Launch, PassesParametersAndShapes) {
  define_kernel("saxpy", [](device::WarpCtx& w, u32 t) {
    const u64 i = global_thread(w, t);
    if (i < param<u32>(w, 24)) param<float*>(w, 16)[i] += param<float>(w, 0) * param<float*>(w, 8)[i];
  });
  Bench b("saxpy", {4, 8, 8, 4});
  constexpr u32 n = 1000;
  std::vector<float> x(n), y(n);
  for (u32 i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = 1;
  u64 dx = 0, dy = 0;
  ASSERT_EQ(b.context.allocate(n * 4, memory::Kind::Device, 0, dx), Error::Success);
  ASSERT_EQ(b.context.allocate(n * 4, memory::Kind::Device, 0, dy), Error::Success);
  Stream& s = b.context.legacy_stream();
  const auto at = [](auto& v) { return reinterpret_cast<u64>(v.data()); };
  EXPECT_EQ(b.context.submit(CopyOp{{.dst = dx, .src = at(x), .width = n * 4}, CopyKind::HostToDevice}, s, false),
            Error::Success);
  EXPECT_EQ(b.context.submit(CopyOp{{.dst = dy, .src = at(y), .width = n * 4}, CopyKind::HostToDevice}, s, false),
            Error::Success);
  float a = 2;
  u32 count = n;
  void* args[] = {&a, &dx, &dy, &count};
  EXPECT_EQ(b.launch({.grid = {4, 1, 1}, .block = {256, 1, 1}}, {.pointers = args}, s), Error::Success);
  EXPECT_EQ(b.context.submit(CopyOp{{.dst = at(y), .src = dy, .width = n * 4}, CopyKind::DeviceToHost}, s, false),
            Error::Success);
  for (u32 i = 0; i < n; ++i) EXPECT_EQ(y[i], 1 + 2 * static_cast<float>(i));
}

TEST(Launch, RefusesWhatHardwareRefuses) {
  define_kernel("shape", [](device::WarpCtx&, u32) {});
  Bench b("shape");
  const auto launch = [&](LaunchConfig c) { return b.launch(c, {}, b.context.legacy_stream()); };
  EXPECT_EQ(launch({.grid = {0, 1, 1}, .block = {1, 1, 1}}), Error::InvalidValue);
  EXPECT_EQ(launch({.grid = {1, 1, 1}, .block = {0, 1, 1}}), Error::InvalidValue);
  EXPECT_EQ(launch({.grid = {1, 1, 1}, .block = {1025, 1, 1}}), Error::InvalidValue);
  EXPECT_EQ(launch({.grid = {1, 1, 1}, .block = {1, 1, 65}}), Error::InvalidValue);
  EXPECT_EQ(launch({.grid = {1, 65536, 1}, .block = {1, 1, 1}}), Error::InvalidValue);
  EXPECT_EQ(launch({.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 49153}), Error::InvalidValue);
  EXPECT_EQ(launch({.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 49152}), Error::Success);
  EXPECT_EQ(launch({.grid = {132 * 2 + 1, 1, 1}, .block = {1024, 1, 1}, .cooperative = true}),
            Error::CooperativeLaunchTooLarge);
  EXPECT_EQ(launch({.grid = {132 * 2, 1, 1}, .block = {1024, 1, 1}, .cooperative = true}), Error::Success);
  EXPECT_EQ(launch({.grid = {4, 1, 1}, .block = {32, 1, 1}, .cluster = {3, 1, 1}}), Error::InvalidClusterSize);
  EXPECT_EQ(launch({.grid = {16, 1, 1}, .block = {32, 1, 1}, .cluster = {16, 1, 1}}), Error::InvalidClusterSize);
  b.function->non_portable_cluster = true;
  EXPECT_EQ(launch({.grid = {16, 1, 1}, .block = {32, 1, 1}, .cluster = {16, 1, 1}}), Error::Success);
  EXPECT_EQ(b.function->set_max_dynamic_shared(232449, b.context.device().spec()), Error::InvalidValue);
  EXPECT_EQ(b.function->set_max_dynamic_shared(232448, b.context.device().spec()), Error::Success);
  EXPECT_EQ(launch({.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 232448}), Error::Success);
  EXPECT_EQ(b.context.synchronize(), Error::Success);
}

TEST(Launch, AFaultBreaksTheContextUntilReset) {
  define_kernel("wild", [](device::WarpCtx& w, u32) { *param<volatile int*>(w, 0) = 1; });
  Bench b("wild", {8});
  u64 nowhere = 8;
  void* args[] = {&nowhere};
  Stream& s = b.context.legacy_stream();
  EXPECT_EQ(b.launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, {.pointers = args}, s), Error::Success);
  EXPECT_EQ(b.context.synchronize(), Error::IllegalAddress);
  EXPECT_NE(b.reported.find("wild"), std::string::npos) << b.reported;
  u64 at = 0;
  EXPECT_EQ(b.context.allocate(4, memory::Kind::Device, 0, at), Error::IllegalAddress);
  EXPECT_EQ(b.launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, {.pointers = args}, s), Error::IllegalAddress);
  b.runtime.device(0).reset_primary();
  EXPECT_EQ(b.runtime.device(0).primary().allocate(4, memory::Kind::Device, 0, at), Error::Success);
}

// Figures of an H200 (occupancy queries recorded there).
TEST(Occupancy, AgreesWithTheH200) {
  const DeviceSpec d;
  const auto blocks = [&](u32 threads, u64 shared, int carveout) {
    return blocks_per_sm(d, {threads, 16, shared, carveout});
  };
  const std::pair<u32, u32> by_threads[] = {{32, 32}, {64, 32}, {96, 21}, {128, 16},
                                            {256, 8}, {512, 4}, {768, 2}, {1024, 2}};
  for (const auto& [threads, expected] : by_threads) EXPECT_EQ(blocks(threads, 0, -1), expected) << threads;
  const std::pair<int, u32> by_carveout[] = {{-1, 28}, {0, 1},   {5, 2},   {10, 4},  {15, 8},  {25, 8},
                                             {30, 12}, {40, 12}, {45, 16}, {55, 16}, {60, 20}, {70, 20},
                                             {75, 24}, {85, 24}, {90, 28}, {100, 28}};
  for (const auto& [percent, expected] : by_carveout) EXPECT_EQ(blocks(32, 7 * 1024, percent), expected) << percent;
  const auto clusters = [&](u32 size, u32 threads, u64 kb) {
    return clusters_per_device(d, {threads, 16, kb * 1024, -1}, size);
  };
  EXPECT_EQ(clusters(1, 1024, 0), 264u);
  EXPECT_EQ(clusters(2, 256, 227), 66u);
  EXPECT_EQ(clusters(4, 256, 227), 30u);
  EXPECT_EQ(clusters(8, 1024, 0), 30u);
  EXPECT_EQ(clusters(8, 256, 227), 15u);
  EXPECT_EQ(clusters(16, 256, 100), 14u);
  EXPECT_EQ(clusters(16, 256, 227), 7u);
  EXPECT_EQ(clusters(4, 1024, 0), 62u);
  EXPECT_EQ(clusters(3, 1024, 0), 79u);
  EXPECT_EQ(clusters(3, 512, 0), 163u);
  EXPECT_EQ(clusters(4, 32, 64), 92u);
  EXPECT_EQ(clusters(1, 64, 0), 1056u);  // at most eight blocks of clusters on an SM
  EXPECT_EQ(clusters(12, 64, 0), 74u);
  EXPECT_EQ(clusters(16, 64, 0), 58u);
}

// A block of as many threads as a launch bound names fits, however many values the kernel keeps.
TEST(Occupancy, ALaunchBoundCanBeMet) {
  const DeviceSpec d;
  for (u32 threads = 1; threads <= 1024; ++threads) {
    const u32 registers = registers_that_fit(d, threads);
    EXPECT_GE(blocks_per_sm(d, {threads, registers, 0, -1}), 1u) << threads;
    EXPECT_TRUE(registers == 255 || blocks_per_sm(d, {threads, registers + 8, 0, -1}) == 0) << threads;
  }
  EXPECT_EQ(registers_that_fit(d, 288), 168u);  // nine warps: three of them in one part
  EXPECT_EQ(registers_that_fit(d, 1024), 64u);
}

}  // namespace
}  // namespace us::driver
