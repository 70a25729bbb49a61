// SPDX-License-Identifier: Apache-2.0
// Who goes next, and where warps are.
#include "timing/multiprocessor.h"

#include <bit>
#include <cmath>
#include <utility>

#include "timing/sm.h"

namespace us::timing {

using Kind = Row::Kind;

SmTime Multiprocessor::run() {
  for (u32 k = 0; k < places_.size(); ++k) start(k, 0);
  u64 now = 0;
  while (live_) {
    soon_ = kNever;
    bool any = serve(static_cast<double>(now));
    for (u32 q = 0; q < kPartitions; ++q) any |= step(q, now);
    if (any)
      ++now;
    else if (soon_ == kNever && !free_waiting(static_cast<double>(now)))
      break;  // nobody can go on: what was recorded does not fit
    else if (soon_ == kNever)
      ++now;
    else
      now = std::max(now + 1, static_cast<u64>(std::ceil(soon_)));
  }
  drained_ = std::max(drained_, share_.flush(static_cast<double>(now)) + (stored_ ? p_.l2_latency : 0));
  result_.cycles = std::max(static_cast<double>(now), drained_);
  result_.l2_bytes += share_.l2_bytes(), result_.stored_again = share_.stored_again();
  result_.local_read = local_.read_bytes(), result_.local_written = local_.written_bytes();
  return std::move(result_);
}

void Multiprocessor::start(u32 place, double at) {
  if (next_ == ctas_.size()) return;
  // One CTA after the other is given out, to whatever multiprocessor.
  at = std::max(at, next_start_);
  next_start_ = at + p_.cta_start * std::min(1.0, launch_.active_sms / kSmsOfRate);
  const TimedCta& cta = *ctas_[next_];
  std::vector<double>& starts = result_.starts;
  starts.push_back(at);
  if (const std::size_t n = starts.size(), back = std::min(n - 1, places_.size()); back)
    apart_ = (at - starts[n - 1 - back]) / static_cast<double>(back);
  Place& p = places_[place];
  p = {};
  p.number = next_++, p.rank = launch_.rank_of(cta.cta);
  for (u32 k = 0; k < cta.warps.size(); ++k) {
    const TimedWarp& work = cta.warps[k];
    if (work.visits.empty()) continue;
    const u32 index = free_warp();
    Warp& w = warps_[index];
    w = {};
    w.work = &work, w.place = place, w.live = true;
    w.cursors.resize(work.accesses.size());
    w.since = w.begun = at;
    ++p.live, ++live_;
    Partition& q = partitions_[partition_of(p.number, k, static_cast<u32>(cta.warps.size()))];
    q.warps.push_back(index);
    partition_of_[index] = static_cast<u32>(&q - partitions_);
    enter(w, index, at, true);
  }
  if (!p.live) end_cta(place, at);
}

u32 Multiprocessor::free_warp() {
  for (u32 k = 0; k < warps_.size(); ++k)
    if (!warps_[k].live && !taken_[k]) return taken_[k] = true, k;
  warps_.emplace_back(), partition_of_.push_back(0), taken_.push_back(true);
  return static_cast<u32>(warps_.size() - 1);
}

void Multiprocessor::enter(Warp& w, u32 index, double now, bool jump) {
  const sass::Visit& v = w.work->visits[w.visit];
  const TimedCode::Block& b = code_.blocks[v.block];
  w.pc = b.first, w.end = b.end;
  if (b.retries && w.times == 1) w.left = v.lanes;
  if (b.retries) result_.turns[v.block].add(w.left, w.times == 1);
  fetch(w, index, now, jump);
  w.heed(code_.rows[w.pc]);
}

void Multiprocessor::fetch(Warp& w, u32 index, double now, bool jump) {
  const double at = fetch_.ready(partition_of_[index], w.pc / 8, jump, now);
  w.wait_until(at, Stall::NoInstruction);
  if (code_.rows[w.pc].constant && !warm_constants_) warm_constants_ = now + p_.l2_latency;
  if (code_.rows[w.pc].constant) w.wait_until(warm_constants_, Stall::NoInstruction);
}

bool Multiprocessor::can(Partition& q, u32 index, u64 now) {
  Warp& w = warps_[index];
  if (!w.live || w.waits || w.unknown) return false;
  const double t = static_cast<double>(now);
  if (w.ready > t) return soon_ = std::min(soon_, w.ready), false;
  const Row& r = code_.rows[w.pc];
  if (const double at = q.opens(r); at > t)
    return w.blocked = Partition::throttle(r), soon_ = std::min(soon_, at), false;
  return true;
}

bool Multiprocessor::step(u32 number, u64 now) {
  Partition& q = partitions_[number];
  if (q.warps.empty()) return false;
  if (q.latch > static_cast<double>(now)) return soon_ = std::min(soon_, q.latch), false;
  const u32 pick = choose(q, now);
  if (pick == ~0u) return false;
  q.last = pick;
  issue(q, pick, now);
  return true;
}

u32 Multiprocessor::choose(Partition& q, u64 now) {
  u32 pick = ~0u;
  if (q.last != ~0u && !q.yields && can(q, q.last, now)) pick = q.last;
  for (std::size_t k = 0; pick == ~0u && k < q.warps.size();)
    for (const u32 place = warps_[q.warps[k]].place; k < q.warps.size() && warps_[q.warps[k]].place == place; ++k)
      if (const u32 w = q.warps[k];
          can(q, w, now) && (pick == ~0u || !q.yields || warps_[w].since < warps_[pick].since))
        pick = w;
  if (pick != ~0u && warps_[pick].wanted_room(code_.rows[warps_[pick].pc])) return longest_for_room(q, pick, now);
  return pick;
}

u32 Multiprocessor::longest_for_room(Partition& q, u32 pick, u64 now) {
  if (q.stores != ~0u && warps_[q.stores].place == warps_[pick].place &&
      code_.rows[warps_[q.stores].pc].kind == Kind::Store && can(q, q.stores, now))
    return q.stores;
  for (const u32 k : q.warps)
    if (warps_[k].place == warps_[pick].place && warps_[k].wanted_room(code_.rows[warps_[k].pc]) &&
        warps_[k].ready < warps_[pick].ready && can(q, k, now))
      pick = k;
  return pick;
}

void Multiprocessor::issue(Partition& q, u32 index, u64 at) {
  Warp& w = warps_[index];
  const Row& r = code_.rows[w.pc];
  q.tell_stalls(result_.stalls[w.pc], w, r, static_cast<double>(at));
  ++result_.issued;
  q.yields = r.control.yield;
  if (r.pipe == Pipe::Memory) q.stores = r.kind == Kind::Store ? index : ~0u;
  const u64 dispatched = q.dispatch(r, at);
  result_.count_pipe(r);
  w.issued(static_cast<double>(at), static_cast<u32>(dispatched - at) + std::max<u32>(1, r.control.stall));
  const double now = static_cast<double>(dispatched);
  const QueuedAccess access{index, w.pc, w.visit, r.pipe == Pipe::Memory ? q.reserve() : 0, now};
  const bool waits = r.pipe == Pipe::Memory && (!queues_.empty() || lsu_ > access.arrives());
  if (waits)
    w.expect(r), queues_.push(partition_of_[index], access);
  else
    complete(q, w, access);
  q.close(r, static_cast<double>(at));
  if (r.kind == Kind::Barrier || r.kind == Kind::Arrive || r.kind == Kind::ClusterBarrier) arrive(w, index, r, now);
  advance(w, index, now);
}

void Multiprocessor::complete(Partition& q, Warp& w, const QueuedAccess& a) {
  const Row& r = code_.rows[a.pc];
  q.filled = a.place;
  const Done d = execute(q, w, a.warp, r, a.now);
  if (r.pipe == Pipe::Memory) q.release(a.now), queues_.passed(partition_of_[a.warp]);
  if (r.control.write_scoreboard < 6) w.set(r.control.write_scoreboard, d.result, d.why);
  if (r.control.read_scoreboard < 6) w.set(r.control.read_scoreboard, d.sources, Stall::ShortScoreboard);
  if (d.hold > 0) w.wait_until(d.hold, d.hold_why);
}

bool Multiprocessor::serve(double now) {
  bool any = false;
  for (; !queues_.empty(); any = true) {
    const double at = std::max(lsu_, queues_.first());
    if (at > now) return soon_ = std::min(soon_, at), any;
    const auto [q, a] = queues_.pop(at);
    Warp& w = warps_[a.warp];
    const u32 pc = std::exchange(w.pc, a.pc), visit = std::exchange(w.visit, a.visit);
    complete(partitions_[q], w, a);
    w.pc = pc, w.visit = visit;
    w.done(code_.rows[a.pc]);
    if (w.visit == w.work->visits.size()) {
      if (!w.queued) end(w, a.warp, std::max(w.since, at));
    } else if (w.unknown) {
      w.heed(code_.rows[w.pc]);
    }
  }
  return any;
}

void Multiprocessor::advance(Warp& w, u32 index, double now) {
  ++w.pc;
  if (w.pc < w.end) {
    if (w.pc % 8 == 0 || code_.rows[w.pc].constant) fetch(w, index, now, false);
    return w.heed(code_.rows[w.pc]);
  }
  const sass::Visit& v = w.work->visits[w.visit];
  const TimedCode::Block& b = code_.blocks[v.block];
  if (b.retries ? w.left != 0 : b.for_each_lane && w.times < static_cast<u32>(std::popcount(v.lanes)))
    ++w.times;
  else
    ++w.visit, w.times = 1;
  if (w.visit == w.work->visits.size()) return w.queued ? void(w.unknown = true) : end(w, index, now);
  const bool jump = code_.blocks[w.work->visits[w.visit].block].first != w.pc;
  if (jump) w.jumped(now + p_.branch_resolved, now + p_.branch_bubble);
  enter(w, index, now, jump);
}

void Multiprocessor::end(Warp& w, u32 index, double now) {
  w.live = taken_[index] = false;
  --live_;
  Partition& q = partitions_[partition_of_[index]];
  std::erase(q.warps, index);
  if (q.last == index) q.last = ~0u;
  if (q.stores == index) q.stores = ~0u;
  result_.warp_cycles += static_cast<u64>(now - w.begun);
  const std::size_t cta = places_[w.place].number;
  result_.spans.push_back(
      {cta, static_cast<u32>(w.work - ctas_[cta]->warps.data()), partition_of_[index], w.begun, now});
  drained_ = std::max({drained_, w.stored, now});
  Place& p = places_[w.place];
  --p.live;
  const u32 place = w.place;
  for (auto& [number, m] : p.meetings) release(m, p.live * probe::kLanes);
  if (!p.live) end_cta(place, now);
}

void Multiprocessor::end_cta(u32 place, double now) {
  result_.ends[places_[place].number] = now;
  start(place, now + p_.cta_restart);
}

void Multiprocessor::arrive(Warp& w, u32 index, const Row& r, double now) {
  Place& p = places_[w.place];
  const bool of_cluster = r.kind == Kind::ClusterBarrier;
  Meeting& m = p.meetings[of_cluster ? kOfCluster : r.number];
  ++m.arrived;
  m.last = std::max(m.last, now), m.release = of_cluster ? p_.cluster_barrier : p_.barrier_release;
  if (r.kind != Kind::Arrive) {
    w.waits = true;
    m.waiting.push_back(index);
  }
  release(m, r.count ? r.count : p.live * probe::kLanes);
}

void Multiprocessor::release(Meeting& m, u32 threads) {
  if (!m.arrived || m.arrived * probe::kLanes < threads) return;
  for (const u32 k : m.waiting) {
    warps_[k].waits = false;
    warps_[k].wait_until(m.last + m.release, Stall::Barrier);
  }
  m = {};
}

SmTime run_multiprocessor(const TimedLaunch& l, const std::vector<const TimedCta*>& ctas, const Parameters& p) {
  return Multiprocessor(l, ctas, p).run();
}

}  // namespace us::timing
