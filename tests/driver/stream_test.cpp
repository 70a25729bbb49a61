// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "fake_jit.h"

namespace us::driver {
namespace {

using test::Bench;
using test::define_kernel;
using test::param;

void nap(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Stream, RunsKernelsInOrder) {
  std::vector<int> seen;
  define_kernel("append", [&](device::WarpCtx& w, u32 t) {
    if (t == 0) seen.push_back(param<int>(w, 0));
  });
  Bench b("append", {4});
  Stream& s = b.context.create_stream(false, 0);
  for (int i = 0; i < 1000; ++i) {
    void* args[] = {&i};
    ASSERT_EQ(b.launch({.grid = {1, 1, 1}, .block = {32, 1, 1}}, {.pointers = args}, s), Error::Success);
  }
  EXPECT_EQ(b.context.synchronize(s), Error::Success);
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(Stream, LaunchReturnsBeforeTheKernelEnds) {
  std::atomic<bool> go = false;
  define_kernel("wait", [&](device::WarpCtx&, u32) {
    while (!go) nap(1);
  });
  Bench b("wait");
  Stream& s = b.context.create_stream(true, 0);
  ASSERT_EQ(b.launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, {}, s), Error::Success);
  EXPECT_EQ(b.context.query(s), Error::NotReady);
  go = true;
  EXPECT_EQ(b.context.synchronize(s), Error::Success);
  EXPECT_EQ(b.context.query(s), Error::Success);
}

TEST(Stream, TwoStreamsRunAtOnce) {
  std::atomic<int> inside = 0;
  define_kernel("meet", [&](device::WarpCtx&, u32) {
    ++inside;
    for (int i = 0; i < 2000 && inside < 2; ++i) nap(1);
  });
  Bench b("meet");
  Stream& s1 = b.context.create_stream(true, 0);
  Stream& s2 = b.context.create_stream(true, 0);
  for (Stream* s : {&s1, &s2}) ASSERT_EQ(b.launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, {}, *s), Error::Success);
  EXPECT_EQ(b.context.synchronize(), Error::Success);
  EXPECT_EQ(inside, 2);
}

TEST(Stream, LegacyStreamOrdersBlockingOnesOnly) {
  std::atomic<bool> go = false;
  std::atomic<int> ended = 0;
  define_kernel("gate", [&](device::WarpCtx& w, u32) {
    if (param<int>(w, 0))
      while (!go) nap(1);
    ++ended;
  });
  Bench b("gate", {4});
  int wait = 1, pass = 0;
  void *wait_args[] = {&wait}, *pass_args[] = {&pass};
  const LaunchConfig one{.grid = {1, 1, 1}, .block = {1, 1, 1}};
  Stream& blocking = b.context.create_stream(false, 0);
  Stream& free_stream = b.context.create_stream(true, 0);
  ASSERT_EQ(b.launch(one, {.pointers = wait_args}, blocking), Error::Success);
  ASSERT_EQ(b.launch(one, {.pointers = pass_args}, b.context.legacy_stream()), Error::Success);
  ASSERT_EQ(b.launch(one, {.pointers = pass_args}, free_stream), Error::Success);
  EXPECT_EQ(b.context.synchronize(free_stream), Error::Success);
  EXPECT_EQ(ended, 1);  // the non-blocking stream passed, the legacy stream waits for the blocking one
  EXPECT_EQ(b.context.query(b.context.legacy_stream()), Error::NotReady);
  go = true;
  EXPECT_EQ(b.context.synchronize(), Error::Success);
  EXPECT_EQ(ended, 3);
}

// Two launches one behind the other, while one worker is about to sleep and another sleeps: each gets a worker.
TEST(Stream, LaunchesThatFollowCloselyRunSideBySide) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two workers";
  constexpr int kRounds = 2000;
  std::atomic<int> gone = 0, ended = 0;
  define_kernel("round", [&](device::WarpCtx& w, u32) {
    while (gone < param<int>(w, 0)) std::this_thread::yield();
    ++ended;
  });
  Bench b("round", {4});
  int round = 0, pass = 0;
  void *wait_args[] = {&round}, *pass_args[] = {&pass};
  const LaunchConfig one{.grid = {1, 1, 1}, .block = {1, 1, 1}};
  Stream& first = b.context.create_stream(true, 0);
  Stream& second = b.context.create_stream(true, 0);
  for (round = 1; round <= kRounds; ++round) {
    ASSERT_EQ(b.launch(one, {.pointers = wait_args}, first), Error::Success);
    ASSERT_EQ(b.launch(one, {.pointers = pass_args}, second), Error::Success);
    ASSERT_EQ(b.context.synchronize(second), Error::Success);
    ASSERT_EQ(ended, 2 * round - 1);
    gone = round;
    ASSERT_EQ(b.context.synchronize(first), Error::Success);
    if (round % 2) std::this_thread::sleep_for(std::chrono::microseconds(round % 40));
  }
}

// A launch that waits for room in the queue must not hold up the work that makes the room: another thread's work
// follows in the stream.
TEST(Stream, FullQueueDrains) {
  constexpr int kFull = 16384;
  std::atomic<bool> go = false;
  define_kernel("tap", [&](device::WarpCtx& w, u32) {
    if (param<int>(w, 0))
      while (!go) nap(1);
  });
  Bench b("tap", {4});
  int wait = 1, pass = 0;
  void *wait_args[] = {&wait}, *pass_args[] = {&pass};
  const LaunchConfig one{.grid = {1, 1, 1}, .block = {1, 1, 1}};
  Stream& closed = b.context.create_stream(true, 0);
  Stream& launches = b.context.create_stream(true, 0);
  Stream& follows = b.context.create_stream(true, 0);
  Event& e = b.context.create_event(false, false);
  ASSERT_EQ(b.launch(one, {.pointers = wait_args}, closed), Error::Success);
  for (int i = 0; i < kFull; ++i) ASSERT_EQ(b.context.record(e, closed), Error::Success);
  std::thread other([&] { EXPECT_EQ(b.launch(one, {.pointers = pass_args}, launches), Error::Success); });
  nap(200);  // it waits for room now
  Event& behind = b.context.create_event(false, false);
  ASSERT_EQ(b.context.record(behind, launches), Error::Success);
  ASSERT_EQ(b.context.wait(follows, behind), Error::Success);
  for (int i = 0; i < kFull; ++i) ASSERT_EQ(b.context.record(e, follows), Error::Success);
  go = true;
  other.join();
  EXPECT_EQ(b.context.synchronize(), Error::Success);
}

TEST(Stream, EventsOrderStreamsAndTakeTime) {
  std::vector<int> order;
  define_kernel("slow", [&](device::WarpCtx& w, u32) {
    nap(param<int>(w, 0));
    order.push_back(param<int>(w, 0));
  });
  Bench b("slow", {4});
  Stream& s1 = b.context.create_stream(true, 0);
  Stream& s2 = b.context.create_stream(true, 0);
  Event& start = b.context.create_event(true, false);
  Event& end = b.context.create_event(true, false);
  float ms = 0;
  EXPECT_EQ(Event::elapsed_ms(start, end, ms), Error::InvalidHandle);
  EXPECT_EQ(end.query(), Error::Success);
  int ten = 10, one = 1;
  void *ten_args[] = {&ten}, *one_args[] = {&one};
  const LaunchConfig single{.grid = {1, 1, 1}, .block = {1, 1, 1}};
  EXPECT_EQ(b.context.record(start, s1), Error::Success);
  EXPECT_EQ(b.launch(single, {.pointers = ten_args}, s1), Error::Success);
  EXPECT_EQ(b.context.record(end, s1), Error::Success);
  EXPECT_EQ(b.context.wait(s2, end), Error::Success);
  EXPECT_EQ(b.launch(single, {.pointers = one_args}, s2), Error::Success);
  EXPECT_EQ(end.query(), Error::NotReady);
  EXPECT_EQ(Event::elapsed_ms(start, end, ms), Error::NotReady);
  EXPECT_EQ(b.context.synchronize(s2), Error::Success);
  EXPECT_EQ(order, (std::vector<int>{10, 1}));
  EXPECT_EQ(Event::elapsed_ms(start, end, ms), Error::Success);
  EXPECT_GE(ms, 10.0f);
  EXPECT_LT(ms, 1000.0f);
}

TEST(Stream, HostFunctionRunsInOrder) {
  std::string log;
  define_kernel("letter", [&](device::WarpCtx&, u32) { log += 'k'; });
  Bench b("letter");
  Stream& s = b.context.create_stream(true, 0);
  const LaunchConfig single{.grid = {1, 1, 1}, .block = {1, 1, 1}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(b.launch(single, {}, s), Error::Success);
    EXPECT_EQ(b.context.submit(CallbackOp{[&] { log += 'h'; }}, s), Error::Success);
  }
  EXPECT_EQ(b.context.synchronize(s), Error::Success);
  EXPECT_EQ(log, "khkhkh");
}

TEST(Stream, WorkOfADestroyedStreamEnds) {
  std::atomic<int> ended = 0;
  define_kernel("last", [&](device::WarpCtx&, u32) {
    nap(5);
    ++ended;
  });
  Bench b("last");
  Stream& s = b.context.create_stream(false, 0);
  EXPECT_EQ(b.launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, {}, s), Error::Success);
  EXPECT_EQ(b.context.destroy_stream(&s), Error::Success);
  EXPECT_EQ(b.context.destroy_stream(&s), Error::InvalidHandle);
  EXPECT_EQ(b.context.synchronize(), Error::Success);
  EXPECT_EQ(ended, 1);
}

TEST(Stream, EmptyLaunchIsCheap) {
  define_kernel("empty", [](device::WarpCtx&, u32) {});
  Bench b("empty");
  Stream& s = b.context.create_stream(true, 0);
  const LaunchConfig single{.grid = {1, 1, 1}, .block = {1, 1, 1}};
  const auto start = std::chrono::steady_clock::now();
  constexpr int kLaunches = 20000;
  for (int i = 0; i < kLaunches; ++i) ASSERT_EQ(b.launch(single, {}, s), Error::Success);
  EXPECT_EQ(b.context.synchronize(s), Error::Success);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  RecordProperty("us_per_launch", std::to_string(took.count() / kLaunches));
  std::printf("%.2f us per launch\n", took.count() / kLaunches);
}

}  // namespace
}  // namespace us::driver
