// SPDX-License-Identifier: Apache-2.0
// Streams that one thread captures while another puts work into them.
#include <gtest/gtest.h>

#include <thread>

#include "driver/graph/exec.h"
#include "fake_jit.h"

namespace us::driver {
namespace {

using test::Bench;
using test::define_kernel;

// Work of a thread lands in the graph or in the stream, whichever the stream is when it comes.
TEST(Capture, EndsWhileAnotherThreadWorksInTheStream) {
  define_kernel("nothing", [](device::WarpCtx&, u32) {});
  Bench b("nothing");
  Stream& s = b.context.create_stream(true, 0);
  Captures& captures = b.runtime.captures();
  std::atomic<bool> over = false;
  std::atomic<u64> ran = 0, submitted = 0;
  std::thread worker([&] {
    const auto count = [](void* at) { ++*static_cast<std::atomic<u64>*>(at); };
    for (; !over; ++submitted) EXPECT_EQ(b.context.submit(HostOp{count, &ran}, s), Error::Success);
  });
  u64 nodes = 0;
  for (int i = 0; i < 3000; ++i) {
    Graph* g = nullptr;
    EXPECT_EQ(captures.begin(s, CaptureMode::Relaxed, nullptr, {}, nullptr), Error::Success);
    for (int spin = 0; spin < i % 64; ++spin) std::this_thread::yield();
    EXPECT_EQ(captures.end(s, g), Error::Success);
    std::lock_guard l(b.runtime.graphs().mutex());
    nodes += g->nodes().size();
    b.runtime.graphs().destroy(g);
  }
  over = true;
  worker.join();
  EXPECT_EQ(b.context.synchronize(s), Error::Success);
  EXPECT_EQ(nodes + ran, submitted);
}

// A kernel that comes when the capture has just ended is launched with its arguments.
TEST(Capture, EndsWhileAnotherThreadLaunchesKernels) {
  static std::atomic<u64> sum;
  sum = 0;
  define_kernel("add", [](device::WarpCtx& w, u32) { sum += test::param<u32>(w, 0); });
  Bench b("add", {4});
  Stream& s = b.context.create_stream(true, 0);
  Captures& captures = b.runtime.captures();
  std::atomic<bool> over = false;
  u64 submitted = 0;
  std::thread worker([&] {
    u32 three = 3;
    void* arguments[] = {&three};
    for (; !over; ++submitted) EXPECT_EQ(b.launch({}, {.pointers = arguments}, s), Error::Success);
  });
  u64 nodes = 0;
  for (int i = 0; i < 2000; ++i) {
    Graph* g = nullptr;
    EXPECT_EQ(captures.begin(s, CaptureMode::Relaxed, nullptr, {}, nullptr), Error::Success);
    for (int spin = 0; spin < i % 64; ++spin) std::this_thread::yield();
    EXPECT_EQ(captures.end(s, g), Error::Success);
    std::lock_guard l(b.runtime.graphs().mutex());
    nodes += g->nodes().size();
    b.runtime.graphs().destroy(g);
  }
  over = true;
  worker.join();
  EXPECT_EQ(b.context.synchronize(s), Error::Success);
  EXPECT_EQ(sum, 3 * (submitted - nodes));
}

}  // namespace
}  // namespace us::driver
