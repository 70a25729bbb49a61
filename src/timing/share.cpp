// SPDX-License-Identifier: Apache-2.0
#include "timing/share.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "timing/accesses.h"

namespace us::timing {

namespace {

constexpr double kMostWritten = 0.6;  // of DRAM's time, a guess
constexpr double kMixes = 8;          // loads and stores come in turns that are longer than dram_memory

// Who asks DRAM for more than others do has more of it: they leave it idle.
double appetite(const TimedLaunch& l, const std::vector<const TimedCta*>& ctas) {
  double asked = 0;
  for (const TimedCta* c : ctas) asked += c->asked;
  const double usual = l.asked * static_cast<double>(ctas.size());
  return usual > 0 ? std::max(1.0, asked / usual) : 1;
}

// So has a multiprocessor with more CTAs than others have on average: of L2, too.
double crowd(const TimedLaunch& l, const std::vector<const TimedCta*>& ctas) {
  const double all = static_cast<double>(u64{l.grid[0]} * l.grid[1] * l.grid[2]);
  return std::max(1.0, static_cast<double>(ctas.size()) * l.active_sms / std::max(1.0, all));
}

// The way to a multiprocessor, of which the two of a TPC share one. Grids that leave half of the multiprocessors idle
// were not measured, and are taken to have what one alone has, although their CTAs come in pairs, too (placement.txt).
double sm_read(const TimedLaunch& l, const Parameters& p) {
  constexpr u32 kFew = 66;
  return l.active_sms > kFew ? std::min(p.l2_sm_read, p.l2_tpc_read / 2) : p.l2_sm_read;
}

}  // namespace

Share::Share(const TimedLaunch& l, const std::vector<const TimedCta*>& ctas, const Parameters& p)
    : p_(p),
      waiting_(p),
      all_stores_(p, false),
      sms_(l.active_sms),
      written_back_(l.written_back),
      sooner_(p.dram_sooner * std::max(0.0, 2 * l.asked_apart - 1)),
      read_rate_(std::min(sm_read(l, p), p.l2_read * l.asked_at_once / sms_ * crowd(l, ctas))),
      write_rate_(std::min(p.l2_sm_write, p.l2_write / sms_ * crowd(l, ctas))),
      dram_rate_(std::min(p.l2_sm_read, p.dram_rate / sms_ * crowd(l, ctas) * appetite(l, ctas))),
      store_pace_(l.store_share * sms_),
      atomic_pace_(l.atomic_share * sms_),
      request_cost_(std::max(1.0, sms_ / (p.l2_requests * l.asked_at_once) / crowd(l, ctas))) {}

double Share::load(double at, double bytes, u32 lines, double dram_bytes, bool twice) {
  l2_bytes_ += bytes;
  l2_ = std::max(l2_, at) + bytes / read_rate_;
  tags_ = std::max(tags_, at) + lines * request_cost_;
  const double done = std::max(l2_, tags_) + p_.l2_latency;
  return dram_bytes > 0 ? std::max(done, from_dram(at, dram_bytes, lines, twice)) : done;
}

double Share::from_dram(double at, double bytes, u32 lines, bool twice) {
  take_dram(at, bytes / dram_rate_);
  const double there = std::max(dram_, at + bytes / p_.l2_sm_read), idle = dram_idle();
  return std::max(there + (twice ? 2 : 1) * idle, at + dram_time(at, bytes / dram_rate_, idle, twice)) +
         dram_spread() * (std::log2(std::max(1u, lines)) + luck());
}

double Share::dram_spread() const {
  constexpr double kBusy = 0.35;  // of its time: halos.txt, with one plane
  return p_.dram_spread * std::min(1.0, p_.dram_calm + (1 - p_.dram_calm) * dram_use_ / kBusy);
}

// Of a load that waits for no other. DRAM that is written, too, takes longer to answer; who asks for what others ask
// for was not the first.
double Share::dram_idle() const { return p_.dram_latency - sooner_ + p_.dram_turn * dram_written(); }

// The part of its time for which DRAM is written.
double Share::dram_written() const {
  return std::min(kMostWritten, std::min(1.0, dram_use_) * dram_mix_[1] / std::max(1e-9, dram_mix_[0]));
}

// How long what asks DRAM is away while so much is under way: of that, who comes finds a part in the queue before it,
// the part of the time that all spend there.
double Share::dram_time(double at, double cycles, double idle, bool twice) {
  while (!under_way_.empty() && under_way_.front().until <= at)
    asked_ -= under_way_.front().cycles, under_way_.pop_front();
  asked_ += cycles;
  const double more = asked_ / (1 - dram_written()) + p_.dram_queue - idle;
  const double time =
      idle * (twice ? 2 : 1) + (more + std::sqrt(more * more + 4 * p_.dram_queue * idle)) / 2 - p_.dram_queue;
  under_way_.push_back({at + time, cycles});
  return time;
}

// DRAM answers after different times, the more so the more it has to do. dram_spread is what the slowest of several
// lines takes longer with each doubling of their number, which says how the times of single lines are spread (Gumbel's
// distribution).
double Share::luck() {
  random_ = random_ * 1664525 + 1013904223;
  constexpr double kMean = 0.5772, kLeast = -1.5;
  const double one = (static_cast<double>(random_ >> 8) + 0.5) / (1 << 24);
  return (std::max(kLeast, -std::log(-std::log(one))) - kMean) / std::numbers::ln2;
}

// DRAM, or what fills L2: both reading and writing take it.
void Share::take_dram(double at, double cycles, bool writes) {
  const double passed = std::max(0.0, at - dram_seen_) / p_.dram_memory, kept = std::exp(-passed / kMixes);
  dram_use_ = dram_use_ * std::exp(-passed) + cycles / p_.dram_memory;
  dram_mix_[0] = dram_mix_[0] * kept + cycles, dram_mix_[1] = dram_mix_[1] * kept + (writes ? cycles : 0);
  dram_seen_ = std::max(dram_seen_, at);
  // Multiprocessors ask at different times: who has not asked for a while may have more than its share.
  dram_ = std::max(dram_, std::max(begun_ = std::min(begun_, at), at - p_.dram_credit)) + cycles;
}

// Lines go one after the other to where they wait.
Share::Stored Share::store(double at, const Lines& lines, bool narrow) {
  Stored s{at};
  for (const Lines::Line& l : lines) {
    if (!waiting_.has(l.line)) s.taken = make_room(s.taken), s.anew |= u64{1} << (&l - lines.begin());
    const StoreBuffer::Stored one = waiting_.add(l, narrow);
    again_.all += all_stores_.add(l, narrow).again, again_.joined += one.again;
    ++s.taken;
  }
  return s;
}

Share::Stored Share::store_lines(double at, u32 lines) {
  Stored s{at};
  for (u32 k = 0; k < lines; ++k) {
    s.taken = make_room(s.taken);
    waiting_.add({unknown_--, 15, {32, 32, 32, 32}, {~u64{0}, ~u64{0}}});
    ++s.taken;
  }
  return s;
}

// Where all places are taken, the line that came first leaves, from when the last was taken.
double Share::make_room(double at) {
  if (!waiting_.room(at)) {
    if (!waiting_.leaving()) leave(*waiting_.oldest(), taken_);
    at = std::max(at, waiting_.next_out());
  }
  return taken_ = at;
}

// Lines that were stored leave.
void Share::rest(double from, double to) {
  for (from += p_.store_waits; from <= to; from += p_.store_leaves)
    if (StoreBuffer::Waiting* w = waiting_.oldest())
      leave(*w, from);
    else
      return;
}

double Share::flush(double at) {
  while (StoreBuffer::Waiting* w = waiting_.oldest()) leave(*w, at);
  return out_;
}

// Loads and stores share the tags of L2.
void Share::leave(StoreBuffer::Waiting& w, double at) {
  const StoreCost cost = cost_of_store(p_, w.bytes, w.narrow);
  tags_ = std::max(tags_, at) + p_.store_tags * request_cost_;
  out_ = std::max(std::max(out_, at) + cost.packets * p_.store_packet, tags_);
  l2_bytes_ += cost.packets * kSectorBytes;
  const double before = std::max(by_slices_, by_dram_), bytes = w.bytes[0] + w.bytes[1] + w.bytes[2] + w.bytes[3];
  by_slices_ += cost.cycles * store_pace_, by_dram_ += bytes * written_back_ / dram_rate_;
  take_dram(at, std::max(by_slices_, by_dram_) - before, written_back_ > 0);
  waiting_.leave(w, out_ = std::max(out_, dram_));
}

void Share::write_back(double at, u32 sectors, double dram_bytes) {
  const double bytes = sectors * kSectorBytes;
  out_ = std::max(out_, at) + bytes / write_rate_;
  l2_bytes_ += bytes;
  if (dram_bytes > 0) take_dram(at, dram_bytes / dram_rate_, true);
}

double Share::atomic(double at, const Atomic& a) {
  const double answer = a.answer ? p_.slice_answer : 1;
  const double least = std::max(p_.atomic_request * a.lanes / 32, p_.atomic_line * a.lines);
  // Loads go the same way (oracle/timing/meets.txt: both takes what pull and push take together); slices do not keep
  // them up.
  const double way = std::max(least, a.sectors * sms_ / p_.atomic_sectors * answer);
  l2_ = std::max(l2_, at) + way;
  atomics_ = std::max({atomics_ + a.slices * atomic_pace_, at + a.slices * atomic_pace_, l2_});
  double done = atomics_ + p_.atomic_latency - least;
  if (a.dram_sectors > 0)
    done = std::max(done, from_dram(at, a.dram_sectors * kSectorBytes, 1) + p_.atomic_latency - p_.l2_latency);
  if (written_back_ > 0) take_dram(at, a.bytes * written_back_ / dram_rate_, true);
  return done;
}

}  // namespace us::timing
