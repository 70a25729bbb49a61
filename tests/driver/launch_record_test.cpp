// SPDX-License-Identifier: Apache-2.0
// What the record of a launch says about its attributes, above all the physical synchronisation domain.
#include <gtest/gtest.h>

#include "driver/graph/exec.h"
#include "fake_jit.h"

namespace us::driver {
namespace {

using test::Bench;
using test::define_kernel;

constexpr int kWindow = 1, kClusterPolicy = 5, kMap = 9, kDomain = 10, kCarveout = 14;

LaunchAttribute attribute(int id, std::initializer_list<u8> bytes) {
  LaunchAttribute a{.id = id};
  std::ranges::copy(bytes, a.value.begin());
  return a;
}

struct Records {
  explicit Records(const char* kernel)
      : bench(defined(kernel), {}, settings()), s(bench.context.create_stream(true, -2)) {}
  static const char* defined(const char* kernel) {
    define_kernel(kernel, [](device::WarpCtx&, u32) {});
    return kernel;
  }
  Settings settings() {
    Settings v;
    v.launched = [this](const device::Launch& l) { last = l.record; };
    return v;
  }
  device::LaunchRecord launch(std::vector<LaunchAttribute> list = {}, LaunchConfig c = {}) {
    c.grid = {1, 1, 1};
    c.block = {32, 1, 1};
    c.attributes = list.data();
    c.attribute_count = static_cast<u32>(list.size());
    EXPECT_EQ(bench.launch(c, {}, s), Error::Success);
    EXPECT_EQ(bench.context.synchronize(s), Error::Success);
    return last;
  }
  device::LaunchRecord last;
  Bench bench;
  Stream& s;
};

TEST(LaunchRecord, PhysicalDomainOfALaunch) {
  Records r("domains");
  EXPECT_EQ(r.launch().domain, 0u);
  EXPECT_EQ(r.launch({attribute(kDomain, {1})}).domain, 1u);
  EXPECT_EQ(r.launch({attribute(kMap, {3, 2})}).domain, 3u);
  EXPECT_EQ(r.launch({attribute(kMap, {3, 2}), attribute(kDomain, {1})}).domain, 2u);
}

TEST(LaunchRecord, StreamsAttributesCountWhereTheLaunchSaysNothing) {
  Records r("stream_domains");
  r.s.set_attribute(kMap, "\2\3", 2);
  EXPECT_EQ(r.launch().domain, 2u);
  EXPECT_EQ(r.launch({attribute(kDomain, {1})}).domain, 3u);
  EXPECT_EQ(r.launch({attribute(kMap, {1, 0})}).domain, 1u);
  r.s.set_attribute(kDomain, "\1\0\0\0", 4);
  EXPECT_EQ(r.launch().domain, 3u);
  EXPECT_EQ(r.launch({attribute(kDomain, {0})}).domain, 2u);
}

TEST(LaunchRecord, GraphsKeepTheCapturedStreamsDomainsAndIgnoreTheLaunchingStreams) {
  Records r("graph_domains");
  Graphs& graphs = r.bench.runtime.graphs();
  r.s.set_attribute(kMap, "\2\3", 2);
  Graph* g = nullptr;
  ASSERT_EQ(graphs.captures.begin(r.s, CaptureMode::Relaxed, nullptr, {}, nullptr), Error::Success);
  const LaunchConfig c{.grid = {1, 1, 1}, .block = {32, 1, 1}};
  ASSERT_EQ(r.bench.launch(c, {}, r.s), Error::Success);
  ASSERT_EQ(graphs.captures.end(r.s, g), Error::Success);
  GraphExec::Outcome outcome;
  std::shared_ptr<GraphExec> e;
  ASSERT_EQ(GraphExec::make(r.bench.context, *g, 0, outcome, e), Error::Success);
  Stream& other = r.bench.context.create_stream(true, 0);
  other.set_attribute(kMap, "\1\1", 2);
  {
    std::lock_guard l(graphs.mutex());
    ASSERT_EQ(e->launch(other), Error::Success);
  }
  ASSERT_EQ(r.bench.context.synchronize(other), Error::Success);
  EXPECT_EQ(r.last.domain, 2u);
}

TEST(LaunchRecord, OtherWishes) {
  Records r("wishes");
  EXPECT_EQ(r.launch().priority, -2);
  LaunchConfig urgent;
  urgent.priority = -4, urgent.has_priority = true;
  EXPECT_EQ(r.launch({}, urgent).priority, -4);
  EXPECT_EQ(r.launch().shared_kb, 228u);
  EXPECT_EQ(r.launch({attribute(kCarveout, {50})}).shared_kb, 132u);
  r.bench.function->carveout = 25;
  EXPECT_EQ(r.launch().shared_kb, 64u);
  EXPECT_EQ(r.launch({attribute(kClusterPolicy, {2})}).cluster_policy, 2u);
  LaunchAttribute window{.id = kWindow};
  const struct {
    u64 address, bytes;
    float ratio;
    u32 hit, miss;
  } w{4096, 512, 0.25f, 2, 1};
  std::memcpy(window.value.data(), &w, sizeof w);
  const device::LaunchRecord told = r.launch({window});
  EXPECT_EQ(told.window.address, 4096u);
  EXPECT_EQ(told.window.bytes, 512u);
  EXPECT_EQ(told.window.hit_ratio, 0.25f);
  EXPECT_EQ(told.window.hit, 2u);
  EXPECT_EQ(told.window.miss, 1u);
}

}  // namespace
}  // namespace us::driver
