// SPDX-License-Identifier: Apache-2.0
#include "timing/multiprocessor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "timing/accesses.h"
#include "timing/caches.h"
#include "timing/known_ways.h"
#include "timing/local_memory.h"
#include "timing/next_access.h"
#include "timing/partition.h"
#include "timing/share.h"
#include "timing/shared_cost.h"

namespace us::timing {
namespace {

using Kind = Row::Kind;
constexpr double kSmsOfRate = 132;  // multiprocessors that cta_start was measured with
constexpr double kNever = std::numeric_limits<double>::infinity();

class Multiprocessor {
 public:
  Multiprocessor(const TimedLaunch& l, const std::vector<const TimedCta*>& ctas, const Parameters& p)
      : launch_(l),
        code_(l.code),
        ctas_(ctas),
        p_(p),
        share_(l, ctas, p),
        l1_(l.l1_bytes),
        local_(l, p, l1_, share_),
        far_(p),
        fetch_(p, static_cast<u32>(l.code.rows.size() + 7) / 8, l.warm_code, l.active_sms / kSmsOfRate),
        constants_(p) {
    result_.stalls.resize(code_.rows.size()), result_.turns.resize(code_.blocks.size());
    result_.ends.resize(ctas.size());
    places_.resize(std::max(1u, l.resident));
    for (Partition& q : partitions_) q.queue.resize(static_cast<std::size_t>(p.mio_queue));
  }

  SmTime run() {
    for (u32 k = 0; k < places_.size(); ++k) start(k, 0);
    u64 now = 0;
    while (live_) {
      soon_ = kNever;
      bool any = false;
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
    result_.cycles = std::max(static_cast<double>(now), drained_);
    result_.l2_bytes += share_.l2_bytes(), result_.stored_again = share_.stored_again();
    result_.local_read = local_.read_bytes(), result_.local_written = local_.written_bytes();
    return std::move(result_);
  }

 private:
  void start(u32 place, double at) {
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

  u32 free_warp() {
    for (u32 k = 0; k < warps_.size(); ++k)
      if (!warps_[k].live && !taken_[k]) return taken_[k] = true, k;
    warps_.emplace_back(), partition_of_.push_back(0), taken_.push_back(true);
    return static_cast<u32>(warps_.size() - 1);
  }

  // To the block of the visit where the warp is.
  void enter(Warp& w, u32 index, double now, bool jump) {
    const sass::Visit& v = w.work->visits[w.visit];
    const TimedCode::Block& b = code_.blocks[v.block];
    w.pc = b.first, w.end = b.end;
    if (b.retries && w.times == 1) w.left = v.lanes;
    if (b.retries) result_.turns[v.block].add(w.left, w.times == 1);
    fetch(w, index, now, jump);
    w.heed(code_.rows[w.pc]);
  }

  void fetch(Warp& w, u32 index, double now, bool jump) {
    const double at = fetch_.ready(partition_of_[index], w.pc / 8, jump, now);
    w.wait_until(at, Stall::NoInstruction);
    if (code_.rows[w.pc].constant && !warm_constants_) warm_constants_ = now + p_.l2_latency;
    if (code_.rows[w.pc].constant) w.wait_until(warm_constants_, Stall::NoInstruction);
  }

  bool can(Partition& q, u32 index, u64 now) {
    Warp& w = warps_[index];
    if (!w.live || w.waits) return false;
    const double t = static_cast<double>(now);
    if (w.ready > t) return soon_ = std::min(soon_, w.ready), false;
    const Row& r = code_.rows[w.pc];
    if (const double at = q.opens(r); at > t)
      return w.blocked = Partition::throttle(r), soon_ = std::min(soon_, at), false;
    return true;
  }

  bool step(u32 number, u64 now) {
    Partition& q = partitions_[number];
    if (q.warps.empty()) return false;
    if (q.latch > static_cast<double>(now)) return soon_ = std::min(soon_, q.latch), false;
    const u32 pick = choose(q, now);
    if (pick == ~0u) return false;
    q.last = pick;
    issue(q, pick, now);
    return true;
  }

  // The last warp as long as it can; then one of the oldest CTA that has one that can (oracle/timing/ctas.txt): who has
  // waited longest, if the last instruction yields, else the youngest (pairs.txt).
  u32 choose(Partition& q, u64 now) {
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

  // Warps that wait for room in the queue take turns (oracle/timing/queue.txt), but for stores that follow each other
  // (parts.txt, fields_write: what a warp stores of a line leaves together though all warps wait).
  u32 longest_for_room(Partition& q, u32 pick, u64 now) {
    if (q.stores != ~0u && code_.rows[warps_[q.stores].pc].kind == Kind::Store && can(q, q.stores, now))
      return q.stores;
    for (const u32 k : q.warps)
      if (warps_[k].wanted_room(code_.rows[warps_[k].pc]) && warps_[k].ready < warps_[pick].ready && can(q, k, now))
        pick = k;
    return pick;
  }

  void issue(Partition& q, u32 index, u64 at) {
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
    Done d = execute(q, w, index, r, now);
    q.close(r, static_cast<double>(at));
    if (r.control.write_scoreboard < 6) w.set(r.control.write_scoreboard, d.result, d.why);
    if (r.control.read_scoreboard < 6) w.set(r.control.read_scoreboard, d.sources, Stall::ShortScoreboard);
    if (r.kind == Kind::Barrier || r.kind == Kind::Arrive || r.kind == Kind::ClusterBarrier) arrive(w, index, r, now);
    if (d.hold > 0) w.wait_until(d.hold, d.hold_why);
    advance(w, index, now);
  }

  void advance(Warp& w, u32 index, double now) {
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
    if (w.visit == w.work->visits.size()) return end(w, index, now);
    const bool jump = code_.blocks[w.work->visits[w.visit].block].first != w.pc;
    if (jump) w.jumped(now + p_.branch_resolved, now + p_.branch_bubble);
    enter(w, index, now, jump);
  }

  void end(Warp& w, u32 index, double now) {
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

  void end_cta(u32 place, double now) {
    result_.ends[places_[place].number] = now;
    start(place, now + p_.cta_restart);
  }

  void arrive(Warp& w, u32 index, const Row& r, double now) {
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

  void release(Meeting& m, u32 threads) {
    if (!m.arrived || m.arrived * probe::kLanes < threads) return;
    for (const u32 k : m.waiting) {
      warps_[k].waits = false;
      warps_[k].wait_until(m.last + m.release, Stall::Barrier);
    }
    m = {};
  }

  Done execute(Partition& q, Warp& w, u32 index, const Row& r, double now) {
    Done d{now + r.latency, now + 6};
    if (r.never) return q.pass(now);
    if (r.kind == Kind::Invalidate) l1_.invalidate();
    switch (r.kind) {
      case Kind::Shuffle:
        return shared(q, r, now, 1);
      case Kind::SharedLoad:
      case Kind::SharedStore:
      case Kind::SharedAtomic:
        return shared_access(q, w, r, now);
      case Kind::Constant:
        return constant(q, w, r, now, d);
      case Kind::Load:
      case Kind::Copy:
        return load(q, w, index, r, now);
      case Kind::Store:
        return store(q, w, index, r, now);
      case Kind::Atomic:
      case Kind::Reduction:
        return atomic(q, w, r, now);
      case Kind::Mbarrier:
      case Kind::AwaitMbarrier:
        return mbarrier(q, w, index, r, now);
      case Kind::Bulk:
      case Kind::BulkStore:
        return bulk(w, r, now);
      case Kind::CommitBulk:
        w.copies.push_back(w.open_bulk);
        break;
      case Kind::CommitCopies:
        w.copies.push_back(std::max(w.open_copies, on_lsu(q, now, p_.copy_commit)));
        break;
      case Kind::Matrix:
        w.matrices.push_back(q.free[static_cast<u32>(Pipe::Tensor)] - r.interval + r.latency);
        break;
      case Kind::Fence:
        d.hold = now + r.latency, d.hold_why = Stall::Membar;
        if (r.latency > p_.fence_cta)
          d.hold = std::max(d.hold, w.stored + std::max(p_.fence_gpu, r.latency - p_.l2_latency));
        break;
      case Kind::Reconverge:
        d.hold = now + r.latency, d.hold_why = Stall::BranchResolving;
        break;
      case Kind::Sleep:
        d.hold = waking(now, r.latency), d.hold_why = Stall::Sleeping;
        break;
      default:
        break;
    }
    return d;
  }

  // The pipe that all sub-partitions share: shared memory, L1 and the exchange of lanes.
  Done shared(Partition& q, const Row& r, double now, double cycles) {
    const double at = next_on_lsu(now);
    lsu_ = at + cycles;
    result_.shared_cycles += cycles;
    q.take(at);
    return {at - 4 + r.latency, at + 4};
  }

  // What waits for others that are not replayed goes on at once.
  bool free_waiting(double now) {
    bool any = false;
    for (Place& p : places_) {
      for (auto& [address, m] : p.mbarriers) any |= !m.waiting.empty(), wake(m, now);
      for (auto& [number, m] : p.meetings) any |= !m.waiting.empty(), m.arrived ? release(m, 0) : void();
    }
    return any;
  }

  void wake(Phases& m, double at) {
    for (const u32 k : m.waiting) {
      warps_[k].waits = false;
      warps_[k].wait_until(at + p_.mbarrier_wait, Stall::LongScoreboard);
    }
    m.waiting.clear();
  }

  void came(Phases& m, double at) {
    if (m.came(at)) wake(m, m.complete);
  }

  // The records of one instruction: of lanes that follow each other.
  template <class F>
  void each_record(Warp& w, bool one, F&& f) {
    const u32 site = code_.sites[w.pc];
    const u32 slot = site < launch_.slot_of_site.size() ? launch_.slot_of_site[site] : ~0u;
    if (slot >= w.work->accesses.size()) return;
    const auto& all = w.work->accesses[slot];
    probe::Record r;
    for (u32 last = 0; w.cursors[slot] < all.size(); last = r.lanes) {
      probe::read_record(all[w.cursors[slot]].words, r);
      if (r.code.kind != probe::RecordCode::Kind::Sync || (last && r.lanes < last) || (one && last && r.lanes != last))
        return;
      const auto op = static_cast<probe::SyncOp>(r.code.bytes);
      if (last && r.lanes == last && !in_copy_) return;
      in_copy_ = op == probe::SyncOp::BulkRows;
      f(op, r, all[w.cursors[slot]++].cost);
    }
  }

  Done mbarrier(Partition& q, Warp& w, u32 index, const Row& r, double now) {
    Place& p = places_[w.place];
    double copies = w.open_copies;
    for (const double c : w.copies) copies = std::max(copies, c);
    each_record(w, false, [&](probe::SyncOp op, const probe::Record& record, float) {
      Phases& m = p.mbarriers[record.first];
      const u32 low = static_cast<u32>(record.second), high = static_cast<u32>(record.second >> 32);
      using enum probe::SyncOp;
      if (op == Init) m = {.expected = low, .pending = low, .phase = 0, .complete = now, .waiting = {}};
      if (op == Arrive) m.bytes += static_cast<i32>(high), m.pending -= low, came(m, now);
      if (op == ExpectBytes) m.bytes += static_cast<i32>(low);
      if (op == Complete) m.bytes -= static_cast<i32>(low), came(m, now);
      if (op == CopyArrive) m.pending += low ? 0 : 1, --m.pending, came(m, copies);
      if (op != Wait || !high) return;
      if ((m.phase & 1) != (low & 1) || m.expected == 0)
        return w.wait_until(m.complete + r.latency, Stall::LongScoreboard);
      w.waits = true;
      m.waiting.push_back(index);
    });
    return shared(q, r, now, 1);
  }

  Done bulk(Warp& w, const Row& r, double now) {
    double dram = 0;
    each_record(w, true, [&](probe::SyncOp op, const probe::Record& record, float sectors) {
      const double bytes = static_cast<double>(record.second);
      if (op == probe::SyncOp::BulkRows) dram += of_dram(sectors);
      if (op == probe::SyncOp::BulkStore) {
        bulk_out_ = std::max(bulk_out_, now) +
                    std::max(p_.bulk_issue, bytes / std::min(p_.bulk_store_rate, share_.write_rate()));
        w.open_bulk = std::max(w.open_bulk, bulk_out_ + p_.bulk_store_latency);
        w.stored = std::max(w.stored, w.open_bulk);
        result_.l2_bytes += bytes;
      }
      if (op != probe::SyncOp::BulkLoad) return;
      bulk_ = std::max(bulk_, now) + std::max(p_.bulk_issue, bytes / p_.bulk_rate);
      const double there =
          share_.load(bulk_, bytes, 0, dram * kSectorBytes) - p_.l2_latency + p_.bulk_latency - p_.mbarrier_wait;
      Phases& m = places_[w.place].mbarriers[record.first];
      m.bytes -= static_cast<i64>(bytes);
      came(m, there);
      dram = 0;
    });
    return {now + r.latency, now + 6};
  }

  Done shared_access(Partition& q, Warp& w, const Row& r, double now) {
    const bool retries = code_.blocks[w.work->visits[w.visit].block].retries;
    NextAccess n = next_access(launch_, w, addresses_, retries);
    if (retries) n.r.lanes &= w.left;
    if (r.joined) n.r.lanes &= ~n.r.lanes + 1;
    const SharedCost c = n.known && n.r.code.space == probe::Space::Shared
                             ? shared_cost(r, n.r, ways_.of(n.r).wavefronts, p_)
                             : SharedCost{double(r.words)};
    Done d = shared(q, r, now, c.cycles);
    d.result += c.more;
    if (r.kind == Kind::SharedLoad)
      d.result += q.answer(lsu_ - c.cycles, c.cycles, p_.shared_way) - (lsu_ + (p_.shared_way - 1) * (c.cycles - 1));
    if (retries && r.kind == Kind::SharedLoad) w.looked = lsu_;
    if (!retries || !r.swaps) return d;
    const u32 done = n.known ? places_[w.place].swapped.swap(n.r, w.looked, lsu_) : 0;
    w.left = n.known ? n.r.lanes & ~done : 0;
    result_.turns[w.work->visits[w.visit].block].apart += done && w.left;
    if (!w.left) next_access(launch_, w, addresses_);
    return d;
  }

  Done local_access(Partition& q, u32 index, const Row& r, const NextAccess& n, double now, bool write) {
    const Lines lines = LocalMemory::lines(index, r, n.known ? &n.r : nullptr);
    const double cycles = std::max<double>(r.words, lines.count()), at = on_lsu(q, now, cycles);
    const double sources = at + cycles + 5;
    if (write) return local_.write(lines, at), Done{at + cycles, sources};
    const LocalMemory::Answer a =
        local_.read(lines, at + cycles - 1, q.answer(at, cycles, p_.l1_line) + p_.l1_latency - 5);
    result_.l1_sectors += lines.sectors(), result_.l1_hits += lines.sectors() - a.missing;
    return {a.done, sources, Stall::LongScoreboard};
  }

  // Lanes that read different lines take turns.
  Done constant(Partition& q, Warp& w, const Row& r, double now, Done d) {
    if (r.pipe != Pipe::Memory) return d;
    const NextAccess n = next_access(launch_, w, addresses_, true);
    if (!n.known || n.r.code.space != probe::Space::Const) return d;  // a parameter of what accesses memory
    next_access(launch_, w, addresses_);
    const double at = std::max(constants_free_, now);
    constants_free_ = constants_.read(n.r, at);
    q.take_later(constants_free_);
    d.result = constants_free_ + r.latency - p_.constant_hit;
    return d;
  }

  Done load(Partition& q, Warp& w, u32 index, const Row& r, double now) {
    const NextAccess n = next_access(launch_, w, addresses_);
    if (n.none) return q.pass(now);
    if (n.known ? n.r.code.space == probe::Space::Local : r.local) return local_access(q, index, r, n, now, false);
    const u32 ways = n.known ? std::max<u32>(ways_.of(n.r).most(), r.words) : 1;
    const double cycles = r.kind == Kind::Copy ? p_.copy_cycles + (r.bypass ? 0 : p_.copy_way * ways) : ways;
    const double at = on_lsu(q, now, cycles);
    Done d{(r.kind == Kind::Copy ? at + cycles : q.answer(at, ways, p_.l1_line)) + p_.l1_latency - 5, at + cycles + 5,
           Stall::LongScoreboard};
    if (!n.known) {
      d.result += p_.l2_latency;
    } else {
      if (n.r.code.space != probe::Space::Shared)
        d.result = global_load(n, Lines(n.r), r, at + cycles - 1, d.result, w.stored > 0);
      else if (const u32 far = FarShared::leaving(n.r, places_[w.place].rank))
        d.result = std::max(d.result, far_.load(FarShared::of_lanes(n.r, far), d.result).answered);
    }
    result_.hear(n.event, now, d.result += n.waits);
    if (r.kind == Kind::Copy) {
      w.open_copies = std::max(w.open_copies, d.result + p_.copy_latency);
      d.result = d.sources;
    }
    return d;
  }

  // A warp that has not `stored` yet asks when others ask for the rest of the line (oracle/timing/split.txt: bump).
  double global_load(const NextAccess& n, const Lines& lines, const Row& r, double at, double hit, bool stored) {
    u32 missing = 0, requests = 0;
    double done = hit;
    for (const Lines::Line& l : lines) {
      double arrives = 0;
      const u32 m = r.bypass ? l.sectors : l1_.missing(l.line, l.sectors, arrives);
      done = std::max(done, arrives);
      missing += static_cast<u32>(std::popcount(m)), requests += m != 0;
    }
    result_.l1_sectors += lines.sectors(), result_.l1_hits += lines.sectors() - missing;
    // Machine code may have accesses in another order than they were recorded: who pays for DRAM may find them in L1.
    if (!missing && n.cost <= 0) return done;
    const double of_dram_bytes = of_dram(n.cost) * kSectorBytes;
    done = std::max(done, share_.load(at, missing * kSectorBytes, requests, of_dram_bytes, n.behind && stored));
    if (!r.bypass)
      for (const Lines::Line& l : lines) local_.give_back(l1_.fill(l.line, l.sectors, done), at);
    return done;
  }

  // Sectors of DRAM; next to nothing, if they only are on their way: who asked for them began at about the same time.
  double of_dram(float cost) const {
    if (cost >= 0) return cost;
    return -cost * apart_ / launch_.active_sms < p_.dram_latency ? 1e-3 : 0;
  }

  // When the unit of loads and stores takes an access.
  double next_on_lsu(double now) {
    const double at = std::max(lsu_, now + 4);
    share_.rest(lsu_, at);
    return at;
  }

  double on_lsu(Partition& q, double now, double cycles) {
    const double at = next_on_lsu(now);
    lsu_ = at + cycles;
    result_.shared_cycles += cycles;
    q.take(at + cycles - 1);
    return at;
  }

  Done store(Partition& q, Warp& w, u32 index, const Row& r, double now) {
    const NextAccess n = next_access(launch_, w, addresses_);
    if (n.none) return q.pass(now);
    if (n.known ? n.r.code.space == probe::Space::Local : r.local) return local_access(q, index, r, n, now, true);
    const Lines of = n.known ? Lines(n.r) : Lines();
    const double cycles = std::max<double>(r.words, of.count()), at = on_lsu(q, now, cycles);
    if (n.known && n.r.code.space == probe::Space::Shared) {
      if (const u32 far = FarShared::leaving(n.r, places_[w.place].rank))
        q.hold_back(w, far_.store(FarShared::of_lanes(n.r, far), at + cycles));
      return {at + cycles, at + cycles + 5};
    }
    const Share::Stored s = n.known ? share_.store(at, of, n.r.code.bytes < 4) : share_.store_lines(at, r.words);
    lsu_ = std::max(lsu_, s.out - p_.store_room);
    q.take_later(lsu_);  // the warp does not wait
    for (u64 k = s.anew; k; k &= k - 1) l1_.store(of.begin()[std::countr_zero(k)].line, at, s.out);
    result_.hear(n.event, now, now);
    w.stored = std::max(w.stored, s.out + p_.l2_latency);
    return {at + cycles, at + cycles + 5};
  }

  Done generic_shared_atomic(Partition& q, Warp& w, const Row& r, const NextAccess& n, double now) {
    Done d = shared(q, r, now, wavefronts_of(n.r).wavefronts);
    d.result = d.sources + p_.l1_latency, d.why = Stall::LongScoreboard;
    const u32 leaving = FarShared::leaving(n.r, places_[w.place].rank);
    if (!leaving) return d;
    const FarShared::Done far = far_.atomic(FarShared::of_lanes(n.r, leaving), d.sources);
    q.hold_back(w, far);
    if (r.kind == Kind::Atomic) d.result = far.answered + p_.l1_latency;
    return d;
  }

  Done atomic(Partition& q, Warp& w, const Row& r, double now) {
    NextAccess n = next_access(launch_, w, addresses_);
    if (n.none) return q.pass(now);
    const bool answers = r.kind == Kind::Atomic;
    if (r.joined) n.r.lanes &= ~n.r.lanes + 1;
    if (n.known && n.r.code.space == probe::Space::Shared) return generic_shared_atomic(q, w, r, n, now);
    const double at = next_on_lsu(now);
    Share::Atomic a{.answer = answers};
    if (n.known) {
      const AtomicSectors all(n.r);
      a.lines = all.requests(), a.lanes = std::popcount(n.r.lanes);
      a.bytes = a.lanes * n.r.code.bytes;
      a.slices = slice_cost_of_atomic(p_, all, r.swaps);
      a.sectors = all.operations(p_.atomic_alone), a.dram_sectors = of_dram(n.cost);
    }
    lsu_ = at + a.lines, result_.first_atomic = std::min(result_.first_atomic, at);
    q.take(at + a.lines - 1);
    const double done = share_.atomic(at, a) + (answers ? n.waits : 0);
    result_.hear(n.event, now, answers ? done : now);
    w.stored = std::max(w.stored, done - (answers ? 0 : p_.atomic_latency / 2));
    return {done, at + a.lines + 5, Stall::LongScoreboard};
  }

  const TimedLaunch& launch_;
  const TimedCode& code_;
  const std::vector<const TimedCta*>& ctas_;
  const Parameters& p_;
  Share share_;
  L1 l1_;
  LocalMemory local_;
  FarShared far_;
  InstructionCache fetch_;
  ConstantCache constants_;
  KnownWays ways_;
  SmTime result_;
  std::vector<Warp> warps_;
  std::vector<u32> partition_of_;
  std::vector<bool> taken_;
  std::vector<Place> places_;
  Partition partitions_[kPartitions];
  std::size_t next_ = 0;
  u64 live_ = 0;
  double soon_ = 0, lsu_ = 0, bulk_ = 0, bulk_out_ = 0, drained_ = 0, next_start_ = 0, warm_constants_ = 0,
         constants_free_ = 0;
  u64 addresses_[probe::kLanes] = {};
  bool in_copy_ = false;
  double apart_ = 0;  // cycles between starts of CTAs, of late
};

}  // namespace

SmTime run_multiprocessor(const TimedLaunch& l, const std::vector<const TimedCta*>& ctas, const Parameters& p) {
  return Multiprocessor(l, ctas, p).run();
}

}  // namespace us::timing
