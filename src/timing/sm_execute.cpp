// SPDX-License-Identifier: Apache-2.0
// What instructions do on a multiprocessor, and when what they wait for is there.
#include <bit>
#include <cmath>

#include "timing/accesses.h"
#include "timing/shared_cost.h"
#include "timing/sm.h"

namespace us::timing {

using Kind = Row::Kind;

Done Multiprocessor::execute(Partition& q, Warp& w, u32 index, const Row& r, double now) {
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
        d.hold = std::max(d.hold, left(w, now) + std::max(p_.fence_gpu, r.latency - p_.l2_latency));
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

Done Multiprocessor::shared(Partition& q, const Row& r, double now, double cycles) {
  const double at = next_on_lsu(now);
  lsu_ = at + cycles;
  result_.shared_cycles += cycles;
  q.take(at);
  return {at - 4 + r.latency, at + 4};
}

bool Multiprocessor::free_waiting(double now) {
  bool any = false;
  for (Place& p : places_) {
    for (auto& [address, m] : p.mbarriers) any |= !m.waiting.empty(), wake(m, now);
    for (auto& [number, m] : p.meetings) any |= !m.waiting.empty(), m.arrived ? release(m, 0) : void();
  }
  return any;
}

void Multiprocessor::wake(Phases& m, double at) {
  for (const u32 k : m.waiting) {
    warps_[k].waits = false;
    warps_[k].wait_until(at + p_.mbarrier_wait, Stall::LongScoreboard);
  }
  m.waiting.clear();
}

void Multiprocessor::came(Phases& m, double at) {
  if (m.came(at)) wake(m, m.complete);
}

Done Multiprocessor::mbarrier(Partition& q, Warp& w, u32 index, const Row& r, double now) {
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

Done Multiprocessor::bulk(Warp& w, const Row& r, double now) {
  double dram = 0;
  each_record(w, true, [&](probe::SyncOp op, const probe::Record& record, float sectors) {
    const double bytes = static_cast<double>(record.second);
    if (op == probe::SyncOp::BulkRows) dram += of_dram(sectors);
    if (op == probe::SyncOp::BulkStore) {
      bulk_out_ =
          std::max(bulk_out_, now) + std::max(p_.bulk_issue, bytes / std::min(p_.bulk_store_rate, share_.write_rate()));
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

Done Multiprocessor::shared_access(Partition& q, Warp& w, const Row& r, double now) {
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

Done Multiprocessor::local_access(Partition& q, u32 index, const Row& r, const NextAccess& n, double now, bool write) {
  const Lines lines = LocalMemory::lines(index, r, n.known ? &n.r : nullptr);
  const double cycles = std::max<double>(r.words, lines.count()), at = on_lsu(q, now, cycles);
  const double sources = at + cycles + 5;
  if (write) return local_.write(lines, at), Done{at + cycles, sources};
  const LocalMemory::Answer a =
      local_.read(lines, at + cycles - 1, q.answer(at, cycles, p_.l1_line) + p_.l1_latency - 5);
  result_.l1_sectors += lines.sectors(), result_.l1_hits += lines.sectors() - a.missing;
  return {a.done, sources, Stall::LongScoreboard};
}

Done Multiprocessor::constant(Partition& q, Warp& w, const Row& r, double now, Done d) {
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

Done Multiprocessor::load(Partition& q, Warp& w, u32 index, const Row& r, double now) {
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
      d.result = global_load(n, Lines(n.r), r, at + cycles - 1, d.result, w.stores || w.stored > 0);
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

double Multiprocessor::global_load(const NextAccess& n, const Lines& lines, const Row& r, double at, double hit,
                                   bool stored) {
  u32 missing = 0, requests = 0;
  double done = hit, way = -1;  // of the line that is farthest
  for (const Lines::Line& l : lines) {
    double arrives = 0;
    const u32 m = r.bypass ? l.sectors : l1_.missing(l.line, l.sectors, arrives);
    done = std::max(done, arrives);
    missing += static_cast<u32>(std::popcount(m)), requests += m != 0;
    if (m && !r.bypass) way = std::max(way, Slices::way(l.line));
  }
  result_.l1_sectors += lines.sectors(), result_.l1_hits += lines.sectors() - missing;
  // Machine code may have accesses in another order than they were recorded: who pays for DRAM may find them in L1.
  if (!missing && n.cost <= 0) return done;
  const double of_dram_bytes = of_dram(n.cost) * kSectorBytes;
  const double there = share_.load(at, missing * kSectorBytes, requests, of_dram_bytes, n.behind && stored);
  done = std::max(done, there + (requests && !r.bypass ? way * p_.l2_apart : 0));
  if (!r.bypass)
    for (const Lines::Line& l : lines) local_.give_back(l1_.fill(l.line, l.sectors, done), at);
  return done;
}

double Multiprocessor::of_dram(float cost) const {
  if (cost >= 0) return cost;
  return -cost * apart_ / launch_.active_sms < p_.dram_latency ? 1e-3 : 0;
}

double Multiprocessor::next_on_lsu(double now) {
  const double at = std::max(lsu_, now + 4);
  share_.rest(lsu_, at);
  return at;
}

double Multiprocessor::on_lsu(Partition& q, double now, double cycles) {
  const double at = next_on_lsu(now);
  lsu_ = at + cycles;
  result_.shared_cycles += cycles;
  q.take(at + cycles - 1);
  return at;
}

Done Multiprocessor::store(Partition& q, Warp& w, u32 index, const Row& r, double now) {
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
  lsu_ = std::max(lsu_, s.taken);
  q.take_later(lsu_);  // the warp does not wait
  for (u64 k = s.anew; k; k &= k - 1)
    l1_.store(of.begin()[std::countr_zero(k)].line, at, s.taken + of.count() * p_.store_stays);
  result_.hear(n.event, now, now);
  w.stores = stored_ = true;
  return {at + cycles, at + cycles + 5};
}

double Multiprocessor::left(Warp& w, double now) {
  if (w.stores) w.stored = std::max(w.stored, share_.flush(now) + p_.l2_latency), w.stores = false;
  return w.stored;
}

Done Multiprocessor::generic_shared_atomic(Partition& q, Warp& w, const Row& r, const NextAccess& n, double now) {
  Done d = shared(q, r, now, wavefronts_of(n.r).wavefronts);
  d.result = d.sources + p_.l1_latency, d.why = Stall::LongScoreboard;
  const u32 leaving = FarShared::leaving(n.r, places_[w.place].rank);
  if (!leaving) return d;
  const FarShared::Done far = far_.atomic(FarShared::of_lanes(n.r, leaving), d.sources);
  q.hold_back(w, far);
  if (r.kind == Kind::Atomic) d.result = far.answered + p_.l1_latency;
  return d;
}

Done Multiprocessor::atomic(Partition& q, Warp& w, const Row& r, double now) {
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

}  // namespace us::timing
