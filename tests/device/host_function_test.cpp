// SPDX-License-Identifier: Apache-2.0
// printf, assert, malloc, match, redux, clocks.
#include <mutex>
#include <set>

#include "device/support/print.h"
#include "kernels.h"

namespace us::device::testing {
namespace {

// Packs arguments as nvcc does for vprintf.
class Pack {
 public:
  template <class T>
  Pack& operator<<(T v) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes.insert(bytes.end(), reinterpret_cast<u8*>(&v), reinterpret_cast<u8*>(&v) + sizeof(T));
    return *this;
  }
  std::vector<u8> bytes;
};

std::string formatted(const char* format, const Pack& args, int count) {
  std::string out;
  EXPECT_EQ(format_printf(out, format, args.bytes.data()), count) << format;
  return out;
}

TEST(Printf, Formats) {
  EXPECT_EQ(formatted("plain 100%%\n", {}, 0), "plain 100%\n");
  EXPECT_EQ(formatted("%d %i %u %x %X %o", Pack() << -5 << 6 << 7u << 255 << 255 << 8, 6), "-5 6 7 ff FF 10");
  EXPECT_EQ(formatted("%5d|%-5d|%05d|%+d|% d", Pack() << 42 << 42 << 42 << 42 << 42, 5), "   42|42   |00042|+42| 42");
  EXPECT_EQ(formatted("%lld %llu %ld %zu", Pack() << -1LL << ~0ULL << 5L << size_t(6), 4),
            "-1 18446744073709551615 5 6");
  EXPECT_EQ(formatted("%d %lld %d", Pack() << 1 << 2LL << 3, 3), "1 2 3");
  EXPECT_EQ(formatted("%hhd %hd %hhu", Pack() << 0x1ff << 0x18000 << 0x1ff, 3), "-1 -32768 255");
  EXPECT_EQ(formatted("%f %.2f %e %g %a", Pack() << 1.5 << 2.345 << 1e10 << 0.0001 << 1.0, 5),
            "1.500000 2.35 1.000000e+10 0.0001 0x1p+0");
  EXPECT_EQ(formatted("%10.3f|%-10.3f|%+.1f", Pack() << 3.14159 << 3.14159 << 2.0, 3), "     3.142|3.142     |+2.0");
  EXPECT_EQ(formatted("%c%c", Pack() << int('o') << int('k'), 2), "ok");
  const char *text = "hello", *none = nullptr;
  EXPECT_EQ(formatted("%s|%8s|%-8s|%.2s|%s", Pack() << text << text << text << text << none, 5),
            "hello|   hello|hello   |he|(null)");
  EXPECT_EQ(formatted("%*d|%-*d|%.*f", Pack() << 5 << 42 << 5 << 42 << 1 << 2.55, 6), "   42|42   |2.5");
  EXPECT_EQ(formatted("%*d|%.*f", Pack() << -5 << 42 << -1 << 2.0, 4), "42   |2.000000");
  EXPECT_EQ(formatted("%p", Pack() << reinterpret_cast<void*>(0x1234), 1), "0x1234");
  EXPECT_EQ(formatted("%#x %#o", Pack() << 255 << 8, 2), "0xff 010");
  EXPECT_EQ(formatted("%y %d %", Pack() << 3, 1), "%y 3 %");
  EXPECT_EQ(formatted("%n%d", Pack() << 3, 1), "%n3");
  EXPECT_EQ(formatted("%300d", Pack() << 1, 1), std::string(299, ' ') + "1");
  std::string out;
  EXPECT_EQ(format_printf(out, nullptr, nullptr), -1);
}

TEST(Printf, AtMost32Arguments) {
  std::string format, expected;
  Pack args;
  for (int k = 0; k < 34; ++k) format += "%d ", args << k, expected += k < 32 ? std::to_string(k) + " " : "%d ";
  EXPECT_EQ(formatted(format.c_str(), args, 32), expected);
}

TEST(Printf, OldestOutputIsLost) {
  std::string got;
  PrintBuffer buffer(100, [&](std::string_view t) { got += t; });
  for (int k = 0; k < 10; ++k) buffer.add(std::to_string(k), 20);
  buffer.flush();
  EXPECT_EQ(got, "56789");
}

using HostFunctions = Device;
US_ALL_WORKERS(HostFunctions);

TEST_P(HostFunctions, PrintfInLaneOrderFlushedAtTheEnd) {
  std::string got;
  GpuOptions o = options();
  o.print = [&](std::string_view t) { got += t; };
  Gpu gpu(o);
  auto kernel = [](WarpCtx* w) {
    u32 packed[32][2];
    Args a{u64("thread %d of %u\n"), 0};
    for (u32 l = 0; l < 32; ++l) {
      packed[l][0] = l, packed[l][1] = 32;
      a.set_lane(1, l, u64(packed[l]));
    }
    u64 results[64];
    call(w, RtFn::Vprintf, a, results);
    for (u32 l = 0; l < 32; ++l) EXPECT_EQ(results[l], 2u);
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::Ok);
  std::string expected;
  for (u32 l = 0; l < 32; ++l) expected += "thread " + std::to_string(l) + " of 32\n";
  EXPECT_EQ(got, expected);
}

TEST_P(HostFunctions, AssertNamesEveryThread) {
  std::string got;
  GpuOptions o = options();
  o.print_error = [&](std::string_view t) { got += t; };
  Gpu gpu(o);
  auto kernel = [](WarpCtx* w) {
    if (w->cta->ctaid.x == 1)
      call(w, RtFn::Assert, {u64("n < 4"), u64("a.cu"), 12, u64("void k(int)"), 1}, nullptr, 0x30);
  };
  Fault f = run(gpu, kernel, nullptr, {.grid = {2, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Assert);
  EXPECT_EQ(got,
            "a.cu:12: void k(int): block: [1,0,0], thread: [4,0,0] Assertion `n < 4` failed.\n"
            "a.cu:12: void k(int): block: [1,0,0], thread: [5,0,0] Assertion `n < 4` failed.\n");
}

TEST_P(HostFunctions, MallocAndFree) {
  GpuOptions o = options();
  o.malloc_heap_bytes = 1 << 20;
  Gpu gpu(o);
  auto kernel = [](WarpCtx* w) {
    for (u32 round = 0; round < 10; ++round) {
      u64 p[64];
      call(w, RtFn::Malloc, {100}, p);
      std::set<u64> different(p, p + 32);
      ASSERT_EQ(different.size(), 32u);
      Args a{0};
      for (u32 l = 0; l < 32; ++l) {
        ASSERT_NE(p[l], 0u);
        ASSERT_EQ(p[l] % 16, 0u);
        std::memset(reinterpret_cast<void*>(p[l]), int(w->warp_id), 100);
        a.set_lane(0, l, p[l]);
      }
      if (w->cta->warps > 1) sync(w);
      for (u32 l = 0; l < 32; ++l) ASSERT_EQ(*reinterpret_cast<u8*>(p[l] + 99), w->warp_id);
      call(w, RtFn::Free, a);
    }
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {8, 1, 1}, .block = {128, 1, 1}}).outcome, Outcome::Ok);
  auto whole = [](WarpCtx* w) {
    u64 all = call1(w, RtFn::Malloc, {1 << 20}, 1);
    EXPECT_NE(all, 0u);  // everything was given back and joined
    EXPECT_EQ(call1(w, RtFn::Malloc, {16}, 1), 0u);
    call(w, RtFn::Free, {all}, nullptr, 1);
    call(w, RtFn::Free, {0}, nullptr, 1);
  };
  EXPECT_EQ(run(gpu, whole, nullptr, {.yields = false}).outcome, Outcome::Ok);
  EXPECT_EQ(run(gpu, [](WarpCtx* w) { call(w, RtFn::Free, {64}); }, nullptr, {}).outcome, Outcome::IllegalAddress);
}

TEST_P(HostFunctions, MatchAndRedux) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    Args any{0, 0xffffffff, 0, 32};
    for (u32 l = 0; l < 32; ++l) any.set_lane(0, l, (u64(l) << 32) | l % 3);
    u64 r[64];
    call(w, RtFn::Match, any, r);
    for (u32 l = 0; l < 32; ++l) EXPECT_EQ(r[l], l % 3 == 0 ? 0x49249249u : l % 3 == 1 ? 0x92492492u : 0x24924924u);
    any.set(3, 64);
    call(w, RtFn::Match, any, r);
    for (u32 l = 0; l < 32; ++l) EXPECT_EQ(r[l], 1u << l);
    call(w, RtFn::Match, {5, 0xff, 1, 32}, r, 0xff);
    EXPECT_EQ(r[0], 0xffu);
    EXPECT_EQ(r[32], 1u);
    Args all{5, 0xff, 1, 32};
    all.set_lane(0, 3, 6);
    call(w, RtFn::Match, all, r, 0xff);
    for (u32 l = 0; l < 8; ++l) EXPECT_EQ(r[l] | r[32 + l], 0u);
    u32 expected[] = {496, 0, 31, 0, 0, 31, 0, 31};
    for (u32 op = 0; op < 8; ++op) {
      Args a{0, 0xffffffff, op};
      for (u32 l = 0; l < 32; ++l) a.set_lane(0, l, l);
      call(w, RtFn::Redux, a, r);
      for (u32 l = 0; l < 32; ++l) EXPECT_EQ(r[l], expected[op]) << op;
    }
    Args halves{0, 0, 7};
    for (u32 l = 0; l < 32; ++l)
      halves.set_lane(0, l, u32(-int(l) - 1)), halves.set_lane(1, l, l < 16 ? 0xffff : 0xffff0000);
    call(w, RtFn::Redux, halves, r);
    EXPECT_EQ(r[5], u32(-1));
    EXPECT_EQ(r[20], u32(-17));
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {.yields = false}).outcome, Outcome::Ok);
}

TEST_P(HostFunctions, ClocksAdvance) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    for (RtFn fn : {RtFn::Clock, RtFn::GlobalTimer}) {
      u64 a = call1(w, fn, {});
      while (call1(w, fn, {}) < a + 100000) call(w, RtFn::Nanosleep, {100});
    }
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::Ok);
}

}  // namespace
}  // namespace us::device::testing
