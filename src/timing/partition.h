// SPDX-License-Identifier: Apache-2.0
// A sub-partition of a multiprocessor: which of its warps goes next, and what an instruction that was issued waits for
// on its way to its pipe (oracle/timing/pairs.txt).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "timing/far_shared.h"
#include "timing/resident.h"

namespace us::timing {

// When nothing could be issued to a pipe, whoever was ready; the latest of it.
class Closings {
 public:
  void add(double begin, double end) {
    if (end <= begin) return;
    if (count_ && begin <= at(count_ - 1).second)
      at(count_ - 1).second = std::max(at(count_ - 1).second, end);
    else
      at(count_++) = {begin, end};
  }
  // Cycles of it between two points in time; of those that are too far back, as many as of the others.
  double within(double from, double to) const {
    double sum = 0, first = to;
    for (u64 k = count_; k && k + kKept > count_ && first > from; --k) {
      const auto& [begin, end] = spans_[(k - 1) % kKept];
      if (end <= from) return sum;
      sum += std::max(0.0, std::min(end, to) - std::max(begin, from)), first = std::min(first, begin);
    }
    return count_ > kKept && first > from && first < to ? sum * (to - from) / (to - first) : sum;
  }

 private:
  static constexpr u64 kKept = 32;
  std::pair<double, double>& at(u64 k) { return spans_[k % kKept]; }
  std::array<std::pair<double, double>, kKept> spans_{};
  u64 count_ = 0;
};

// Which of the next cycles of a pipe are taken.
class Slots {
 public:
  bool open(u64 at, u32 cycles) const {
    return at < begin_ || at >= begin_ + 64 || !(taken_ & (mask(cycles) << (at - begin_)));
  }
  void take(u64 at, u32 cycles) {
    if (at + cycles > begin_ + 64) {
      const u64 by = at + cycles - begin_ - 64;
      taken_ = by < 64 ? taken_ >> by : 0, begin_ += by;
    }
    if (at >= begin_) taken_ |= mask(cycles) << (at - begin_);
  }

 private:
  static u64 mask(u32 cycles) { return (u64{1} << cycles) - 1; }
  u64 begin_ = 0, taken_ = 0;
};

constexpr u32 kPartitions = 4;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Of warp `warp` of the CTA that is the `number`-th of its multiprocessor: the first one goes where the CTA before left
// off, or one further, if that would be the same for all (oracle/timing/slots.txt).
constexpr u32 partition_of(u64 number, u32 warp, u32 warps) {
  const u32 step = warps % kPartitions ? warps % kPartitions : 1;
  return static_cast<u32>((number * step + warp) % kPartitions);
}

struct Partition {
  std::vector<u32> warps;  // oldest first
  u32 last = ~0u;
  u32 stores = ~0u;     // whose store was the last access
  bool yields = false;  // the last instruction lets others go first
  std::array<double, kPipes> free{};
  double latch = 0;      // until then the last instruction waits for its pipe and its operands
  double banks[2] = {};  // until when registers of each are being read
  Slots fma, alu;
  std::array<Closings, kPipes> closed;
  Closings undispatched;
  double answered = 0;        // until when its registers get what was loaded
  std::vector<double> queue;  // when each place is free
  u32 head = 0, filled = 0;   // the next place; that of the access that is done
  double full_since = -1;     // the queue is full, until when is not known

  // When the warp scheduler knows that the pipe takes an instruction.
  double opens(const Row& r) const {
    if (r.pipe == Pipe::None || r.pipe == Pipe::Fma) return 0;
    const double at = std::floor(free[static_cast<u32>(r.pipe)]);
    return r.pipe == Pipe::Memory ? std::max(at, queue[head]) : at;
  }

  // When the instruction that was issued now goes into its pipe.
  u64 dispatch(const Row& r, u64 now) {
    const u32 cycles = static_cast<u32>(r.interval);
    u64 at = now;
    while (!can_read(r, at) || !takes(r, cycles, at)) ++at;
    for (u32 b = 0; b < 2; ++b)
      if (r.reads[b]) banks[b] = std::max(banks[b], static_cast<double>(at)) + r.reads[b];
    double& to = free[static_cast<u32>(r.pipe)];
    if (r.pipe == Pipe::Fma || r.pipe == Pipe::FmaHeavy) {
      fma.take(at, cycles);
      if (r.twice && cycles) fma.take(at + kSecondPass, cycles), alu.take(at + kResult, kResultCycles);
    }
    if (r.pipe != Pipe::None) to = std::max(to, static_cast<double>(at)) + r.interval;
    latch = static_cast<double>(at + 1);
    return at;
  }

  // What the instruction that was issued now keeps others from.
  void close(const Row& r, double now) {
    undispatched.add(now + 1, latch);
    if (r.pipe == Pipe::None || r.pipe == Pipe::Fma) return;
    double end = free[static_cast<u32>(r.pipe)];
    if (r.pipe == Pipe::Memory && queue[head] == kNever)
      full_since = now + 1;
    else if (r.pipe == Pipe::Memory)
      end = std::max(end, queue[head]);
    closed[static_cast<u32>(r.pipe)].add(now + 1, end);
  }
  // The time since the warp issued last, by what it waited for: at last for its turn, while its pipe was open.
  void tell_stalls(std::array<u64, kStalls>& s, Warp& w, const Row& r, double now) const {
    const auto add = [&](Stall reason, double cycles) {
      s[static_cast<u32>(reason)] += static_cast<u64>(std::max(0.0, std::round(cycles)));
    };
    w.blocked = Stall::NotSelected;
    add(Stall::Selected, 1);
    const double ready = std::min(now, std::max(w.ready, w.since));
    double from = w.since + 1;
    for (u32 k = 0; k < w.holds; ++k) {
      const double until = std::min(w.held[k].until, ready);
      add(w.held[k].why, until - from), from = std::max(from, until);
    }
    if (ready >= now) return;
    const double pipe = r.pipe == Pipe::None ? 0 : closed[static_cast<u32>(r.pipe)].within(ready, now);
    const double dispatched = std::min(now - ready - pipe, undispatched.within(ready, now));
    add(throttle(r), pipe);
    add(Stall::Dispatch, dispatched);
    add(Stall::NotSelected, now - ready - pipe - dispatched);
  }
  static Stall throttle(const Row& r) {
    if (r.pipe != Pipe::Memory) return Stall::MathPipeThrottle;
    return r.kind == Row::Kind::Load || r.kind == Row::Kind::Store ? Stall::LgThrottle : Stall::MioThrottle;
  }
  u32 reserve() {  // a place
    const u32 place = head;
    queue[place] = kNever, head = (head + 1) % static_cast<u32>(queue.size());
    return place;
  }
  void take(double until) { queue[filled] = until; }
  Done pass(double now) {  // of an access without lanes
    take(now + 4);
    return {now + 6, now + 6};
  }
  void take_later(double until) {  // at least as long
    queue[filled] = queue[filled] == kNever ? until : std::max(queue[filled], until);
  }
  void release(double now) {  // the access in `filled` is done
    if (queue[filled] == kNever) queue[filled] = now;
    if (full_since < 0 || queue[head] == kNever) return;
    closed[static_cast<u32>(Pipe::Memory)].add(full_since, queue[head]), full_since = -1;
  }
  // L1 gives lines from now on, one a cycle, and each takes so many on its way: when the last one has begun.
  double answer(double at, double lines, double each) {
    answered = std::max(answered, at) + lines * each;
    return std::max(at + lines, answered - each + 1);
  }
  // What a warp sent to a neighbour: only so much is on its way.
  void hold_back(Warp& w, const FarShared::Done& d) {
    constexpr double kOnTheWay = 100;  // cycles
    take_later(d.taken - kOnTheWay);
    w.stored = std::max(w.stored, d.answered);
  }

 private:
  // Products with a high half go through the pipe again some cycles later; while their results are written, the ALU
  // takes nothing.
  static constexpr u64 kSecondPass = 4, kResult = 5;
  static constexpr u32 kResultCycles = 2;
  // Operands are there some cycles after an instruction has left the latch: reads of others may still be under way.
  static constexpr double kReadCycles = 2;

  bool can_read(const Row& r, u64 at) const {
    for (u32 b = 0; b < 2; ++b)
      if (r.reads[b] && banks[b] + r.reads[b] - std::max<double>(kReadCycles, r.reads[b]) > static_cast<double>(at))
        return false;
    return true;
  }
  bool takes(const Row& r, u32 cycles, u64 at) const {
    if (r.pipe == Pipe::Alu) return alu.open(at, 1);
    if (r.pipe != Pipe::Fma && r.pipe != Pipe::FmaHeavy) return true;
    return fma.open(at, cycles) && (!r.twice || fma.open(at + kSecondPass, cycles));
  }
};

}  // namespace us::timing
