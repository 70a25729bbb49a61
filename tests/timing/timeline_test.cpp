// SPDX-License-Identifier: Apache-2.0
// The timeline against what an H200 took: medians from the last CTA's end to the first one's start (2026-11-23, by the
// global timer inside kernels that have a queue full of others before them), copies between two devices, and F8.
#include "timing/timeline.h"

#include <gtest/gtest.h>

#include "timing/host_calls.h"

namespace us::timing {
namespace {

using Kind = WorkProfile::Kind;
using Place = WorkProfile::Place;

// A program of one thread. Nodes are numbered from 1 on.
class Program {
 public:
  u64 add(WorkProfile w) {
    w.node = ++nodes_;
    t.submit(w);
    t.complete(w.node);
    return w.node;
  }
  u64 kernel(std::vector<u64> after, KernelTime takes, WorkProfile w = {}) {
    t.took(nodes_ + 1, takes);
    w.kind = Kind::Kernel, w.after = std::move(after);
    return add(w);
  }
  u64 join(std::vector<u64> after, u64 stream = 1) { return add({.stream = stream, .after = std::move(after)}); }
  u64 copy(std::vector<u64> after, u64 bytes, Place from, Place to, bool peers = false) {
    return add({.kind = Kind::Copy, .bytes = bytes, .from = from, .to = to, .peers = peers, .after = std::move(after)});
  }
  u64 stamp(std::vector<u64> after) { return add({.kind = Kind::Stamp, .after = std::move(after)}); }
  double length(u64 node) { return t.span(node)->end - t.span(node)->begin; }
  // From the timer of one's last CTA to that of the other's first: both run a while without being seen.
  double gap(u64 one, u64 other) { return t.span(other)->begin - t.span(one)->end + 2 * head() + 140; }
  double head() const { return p.launch_cycles / p.sm_clock / 2; }

  const Parameters p;
  Timeline t;

 private:
  u64 nodes_ = 0;
};

struct Grid {
  double ctas, stream, events, graph, programmatic, set, copy;  // ns
};
// Kernels of 128 to 350 ns.
constexpr Grid kGrids[] = {{1, 1472, 1632, 800, 448, 3456, 3456},
                           {132, 1568, 1664, 800, 416, 3488, 3424},
                           {264, 1600, 1664, 768, 384, 3424, 3424},
                           {1056, 2112, 2208, 1152, 736, 4032, 3936}};

TEST(Timeline, GapsOfAnH200) {
  for (const Grid& g : kGrids) {
    const KernelTime k{200, g.ctas / 2112, g.ctas};
    const auto near = [&](double is, double measured) { EXPECT_NEAR(is / measured, 1, 0.16) << g.ctas; };
    Program s;
    const u64 first = s.kernel({}, {300000, 0.01, 1});  // all is submitted before it ends
    u64 a = s.kernel({first}, k), b = s.kernel({a}, k);
    near(s.gap(a, b), g.stream);
    a = s.kernel({b}, k, {.stream = 1});
    b = s.kernel({s.join({s.join({a}, 1)}, 2)}, k, {.stream = 2});
    near(s.gap(a, b), g.events);
    a = s.kernel({b}, k);
    b = s.kernel({a}, k, {.graph = true});
    near(s.gap(a, b), g.graph);
    a = s.kernel({b}, k);
    b = s.kernel({}, k, {.overlaps = a});
    near(s.gap(a, b), g.programmatic);
    a = s.kernel({b}, k);
    b = s.kernel({s.add({.kind = Kind::Set, .bytes = 4096, .after = {a}})}, k);
    near(s.gap(a, b), g.set);
    a = s.kernel({b}, k);
    b = s.kernel({s.copy({a}, 2048, Place::Device, Place::Device)}, k);
    near(s.gap(a, b), g.copy);
  }
}

// cudaMemcpyPeer from the source's stream: microseconds by bytes.
TEST(Timeline, CopiesBetweenDevices) {
  constexpr std::pair<u64, double> kMeasured[] = {{4096, 5.28},         {32768, 5.344},     {262144, 5.92},
                                                  {2097152, 10.784},    {16777216, 48.544}, {134217728, 344.288},
                                                  {1073741824, 2708.48}};
  for (const auto& [bytes, microseconds] : kMeasured) {
    Program s;
    const u64 one = s.copy({}, bytes, Place::Device, Place::Device, true);
    const u64 other = s.copy({one}, bytes, Place::Device, Place::Device, true);
    EXPECT_NEAR((s.t.span(other)->begin - s.t.span(one)->begin) / 1000 / microseconds, 1, 0.04) << bytes;
  }
}

// Two in opposite directions run beside each other, two in one direction behind each other.
TEST(Timeline, EnginesOfCopies) {
  Program s;
  constexpr u64 kBytes = 64 << 20;
  const u64 in = s.copy({}, kBytes, Place::Pinned, Place::Device),
            out = s.copy({}, kBytes, Place::Device, Place::Pinned),
            in2 = s.copy({}, kBytes, Place::Pinned, Place::Device);
  EXPECT_LT(s.t.span(out)->begin, s.t.span(in)->end);
  EXPECT_EQ(s.t.span(in2)->begin, s.t.span(in)->end);
}

// Between two events, all submitted before: oracle/timing/effects/recorded.txt, host_and_copies 21, lines
// queued_nothing, queued_a_kernel, copy_*, two_copies_*, set_*, two_sets_*.
TEST(Timeline, BetweenEvents) {
  Program s;
  u64 last = s.kernel({}, {1e9, 0.01, 1});
  const auto between = [&](u32 times, auto&& add) {
    const u64 from = last = s.stamp({last});
    for (u32 k = 0; k < times; ++k) last = add(last);
    last = s.stamp({last});
    return (s.t.span(last)->begin - s.t.span(from)->begin) / 1000;
  };
  EXPECT_NEAR(between(0, [](u64 a) { return a; }), 1.248, 0.01);
  EXPECT_NEAR(between(1, [&](u64 a) { return s.kernel({a}, {30, 0.01, 1}); }), 2.752, 0.1);
  constexpr auto kPinned = Place::Pinned, kDevice = Place::Device;
  struct Copies {
    u64 bytes;
    double in, two_in, out, within, two_within, set, two_sets;
  };
  constexpr Copies kMeasured[] = {
      {16 << 10, 7.040, 10.368, 5.984, 3.232, 5.376, 3.392, 5.344},
      {256 << 10, 11.552, 19.616, 10.592, 3.424, 5.600, 3.424, 5.376},
      {4 << 20, 82.880, 161.824, 81.504, 4.608, 7.712, 4.096, 7.168},
      {16 << 20, 309.376, 614.176, 308.032, 7.904, 14.688, 7.104, 12.768},
      {64 << 20, 1215.488, 2426.272, 1215.104, 35.424, 70.144, 18.144, 36.128},
      {256 << 20, 4844.384, 9683.776, 4860.736, 128.384, 257.952, 62.336, 124.128},
  };
  for (const Copies& c : kMeasured) {
    const auto copy = [&](Place from, Place to) {
      return [&s, &c, from, to](u64 a) { return s.copy({a}, c.bytes, from, to); };
    };
    const auto set = [&](u64 a) { return s.add({.kind = Kind::Set, .bytes = c.bytes, .to = kDevice, .after = {a}}); };
    const auto near = [&](double is, double measured, double least = 0.07) {
      EXPECT_NEAR(is / measured, 1, least) << c.bytes << " bytes, " << measured << " us";
    };
    near(between(1, copy(kPinned, kDevice)), c.in);
    near(between(2, copy(kPinned, kDevice)), c.two_in);
    near(between(1, copy(kDevice, kPinned)), c.out, 0.18);
    near(between(1, copy(kDevice, kDevice)), c.within);
    near(between(2, copy(kDevice, kDevice)), c.two_within);
    near(between(1, set), c.set);
    near(between(2, set), c.two_sets);
  }
}

// Three kernels without order between them: two that fill half of the device each run beside each other, the third,
// which fills it, behind them. A fourth finds a quarter free while another runs, and takes twice as long.
TEST(Timeline, KernelsShareMultiprocessors) {
  Program s;
  const u64 a = s.kernel({}, {10000, 0.5, 132}), b = s.kernel({}, {10000, 0.5, 132}), c = s.kernel({}, {5000, 1, 132});
  EXPECT_NEAR(s.length(a), 10000 + 2 * s.head(), 1e-6);
  EXPECT_NEAR(s.length(b), 10000 + 2 * s.head(), 1e-6);
  EXPECT_NEAR(s.t.span(b)->begin, s.t.span(a)->begin, 1e-6);
  EXPECT_NEAR(s.t.span(c)->begin + s.head(), s.t.span(a)->end - s.head(), 1e-6);
  Program r;
  const u64 long_one = r.kernel({}, {100000, 0.75, 99}), other = r.kernel({}, {10000, 0.5, 66});
  r.t.span(long_one);
  EXPECT_NEAR(r.length(other), 20000 + 2 * r.head(), 1e-6);
}

// A thread that waits is where the work ended, and host_wake; the next launch takes 3 us, and half a one to begin.
TEST(Timeline, TheHostWaits) {
  Program s;
  s.t.pass(0, 3000);
  const u64 a = s.kernel({}, {10000, 1, 132});
  s.t.submit({.kind = Kind::Waited, .node = a});
  const double end = 3000 + 500 + 2 * s.head() + 10000 + 132 * s.p.gap_cta;
  EXPECT_NEAR(s.t.now(0), end + s.p.host_wake, 1e-6);
  s.t.submit({.kind = Kind::Waited, .node = a});  // it knows already
  EXPECT_NEAR(s.t.now(0), end + s.p.host_wake, 1e-6);
  s.t.pass(0, 3000);
  EXPECT_NEAR(s.t.span(s.kernel({}, {1, 1, 1}))->begin, end + s.p.host_wake + 3500, 1e-6);
}

// oracle/timing/effects, cache_config: of two streams of kernels that leave room beside them but want L1 divided
// otherwise, one waits for the other, unless there are multiprocessors for both.
TEST(Timeline, KernelsThatWantAnotherSplitWait) {
  for (const auto& [sms, split, overlaps] :
       {std::tuple{1.0, u64{101}, false}, {1.0, u64{1}, true}, {1.0, u64{0}, true}, {0.12, u64{101}, true}}) {
    Program s;
    const u64 a = s.kernel({}, {45000, 0.06, 132, sms, 1}), b = s.kernel({}, {45000, 0.06, 132, sms, split});
    EXPECT_EQ(s.t.span(b)->begin + 2 * s.head() + 1 < s.t.span(a)->end, overlaps) << sms << ' ' << split;
  }
}

// oracle/timing/h100/beside.txt, `gpu host`, one CTA: n fences that begin 340 us after 32 CTAs that write the host's
// memory for 1278 us, and take 0.345 us each without them. Then 8 CTAs that write, 155 us before.
TEST(Timeline, FencesWaitForWhatOthersWrite) {
  struct Case {
    double sms, n, ns;
  };
  for (const Case& c : {Case{32, 1, 74240},
                        {32, 4, 297728},
                        {32, 16, 758528},
                        {32, 256, 999680},
                        {32, 1024, 1283840},
                        {8, 1, 14336},
                        {8, 4, 56320},
                        {8, 16, 241920},
                        {8, 64, 1038336},
                        {8, 256, 1185280},
                        {8, 1024, 1464064}}) {
    Program s;
    const double holds = std::min(s.p.host_way, s.p.host_way_sm * c.sms) / s.p.host_write, own = 345 * c.n;
    s.kernel({}, {1278000, 0.02, c.sms, c.sms / 132, 0, 0, holds}, {.stream = 1});
    const u64 before = s.kernel({}, {c.sms > 8 ? 337000.0 : 152000.0, 0.001, 1}, {.stream = 2});
    const u64 fences = s.kernel({before}, {own, 0.001, 1, 0.01, 0, c.n}, {.stream = 2});
    EXPECT_NEAR((s.length(fences) - 2 * s.head()) / c.ns, 1, 0.25) << c.sms << ' ' << c.n;
  }
  Program s;  // and not for what ended before
  s.kernel({}, {1000, 0.02, 32, 0.25, 0, 0, 70000});
  const u64 last = s.kernel({1}, {1000, 0.001, 1, 0.01, 0, 16});
  EXPECT_NEAR(s.length(last) - 2 * s.head(), 1000, 1);
}

// Work is placed when what it takes is known. What was later known and could have run before takes what is left over.
TEST(Timeline, WaitsForFigures) {
  Timeline t;
  t.submit({.kind = Kind::Kernel, .node = 1});
  t.submit({.kind = Kind::Kernel, .node = 2, .after = {1}});
  t.took(2, KernelTime{100, 1, 1});
  t.complete(2);
  EXPECT_FALSE(t.span(2));
  t.took(1, std::nullopt);  // it has none: no time
  t.complete(1);
  EXPECT_EQ(t.span(1)->end, t.span(1)->begin);
  ASSERT_TRUE(t.span(2));
  t.submit({.kind = Kind::Kernel, .node = 3});
  t.took(3, KernelTime{100, 1, 1});
  t.complete(3);
  EXPECT_GE(t.span(3)->begin + 1e-6, t.span(2)->end - 2 * (Parameters().launch_cycles / Parameters().sm_clock / 2));
}

// docs/gallery/trace-processing.md, the default size: a hundred traces of six kernels in eight streams, 2.379 ms a
// step; as a graph 0.190 ms. Kernels of 1.7 us each stand for those.
TEST(Timeline, ManySmallNodesAsAGraph) {
  const KernelTime small{1700, 1.0 / 132, 1};
  const auto step = [&](bool graph) {
    Program s;
    u64 tails[8] = {};
    if (graph) s.t.pass(0, s.p.host_graph_launch);
    const u64 first = s.join({});
    for (u64& t : tails) t = first;
    for (int trace = 0; trace < 100; ++trace)
      for (int k = 0; k < 6; ++k) {
        if (!graph) s.t.pass(0, s.p.host_launch);
        u64& t = tails[trace % 8];
        t = s.kernel({t}, small, {.graph = graph});
      }
    const u64 last = s.join({tails, tails + 8});
    return (s.t.span(last)->end - s.t.span(first)->end) / 1e6;
  };
  EXPECT_NEAR(step(false) / 2.379, 1, 0.3);
  EXPECT_NEAR(step(true) / 0.190, 1, 0.2);
  EXPECT_GT(step(false) / step(true), 5);
}

TEST(HostCalls, ByName) {
  const Parameters p;
  EXPECT_EQ(host_cost(p, "cudaLaunchKernelExC"), p.host_launch);
  EXPECT_EQ(host_cost(p, "__cudaLaunchKernel"), p.host_launch);
  EXPECT_EQ(host_cost(p, "cuLaunchKernel_ptsz"), p.host_launch);
  EXPECT_EQ(host_cost(p, "cuMemcpyHtoDAsync_v2"), p.host_copy);
  EXPECT_EQ(host_cost(p, "cudaMallocAsync"), p.host_pool);
  EXPECT_EQ(host_cost(p, "cudaMallocHost"), p.host_pin);
  EXPECT_EQ(host_cost(p, "cudaMalloc"), p.host_call);
  EXPECT_EQ(host_cost(p, "cudaGetLastError"), p.host_call);
}

}  // namespace
}  // namespace us::timing
