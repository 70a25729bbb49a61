// SPDX-License-Identifier: Apache-2.0
// A multiprocessor while it is replayed.
#pragma once
#include <algorithm>
#include <vector>

#include "timing/access_queues.h"
#include "timing/caches.h"
#include "timing/far_shared.h"
#include "timing/known_ways.h"
#include "timing/local_memory.h"
#include "timing/next_access.h"
#include "timing/partition.h"
#include "timing/share.h"

namespace us::timing {

inline constexpr double kSmsOfRate = 132;  // multiprocessors that cta_start was measured with

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

  SmTime run();

 private:
  // Who goes next, and where warps are (multiprocessor.cpp).
  void start(u32 place, double at);
  u32 free_warp();
  // To the block of the visit where the warp is.
  void enter(Warp& w, u32 index, double now, bool jump);
  void fetch(Warp& w, u32 index, double now, bool jump);
  bool can(Partition& q, u32 index, u64 now);
  bool step(u32 number, u64 now);
  // The last warp as long as it can; then one of the oldest CTA that has one that can (oracle/timing/ctas.txt): who has
  // waited longest, if the last instruction yields, else the youngest (pairs.txt).
  u32 choose(Partition& q, u64 now);
  // Warps of a CTA that wait for room in the queue take turns (oracle/timing/queue.txt), but for stores that follow
  // each other (parts.txt, fields_write: what a warp stores of a line leaves together though all warps wait).
  u32 longest_for_room(Partition& q, u32 pick, u64 now);
  void issue(Partition& q, u32 index, u64 at);
  void complete(Partition& q, Warp& w, const QueuedAccess& a);
  // What has waited for the unit of loads and stores, until the next one.
  bool serve(double now);
  void advance(Warp& w, u32 index, double now);
  void end(Warp& w, u32 index, double now);
  void end_cta(u32 place, double now);
  void arrive(Warp& w, u32 index, const Row& r, double now);
  void release(Meeting& m, u32 threads);

  // What instructions do, and when what they wait for is there (sm_execute.cpp).
  Done execute(Partition& q, Warp& w, u32 index, const Row& r, double now);
  // The pipe that all sub-partitions share: shared memory, L1 and the exchange of lanes.
  Done shared(Partition& q, const Row& r, double now, double cycles);
  // What waits for others that are not replayed goes on at once.
  bool free_waiting(double now);
  void wake(Phases& m, double at);
  void came(Phases& m, double at);
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

  Done mbarrier(Partition& q, Warp& w, u32 index, const Row& r, double now);
  Done bulk(Warp& w, const Row& r, double now);
  Done shared_access(Partition& q, Warp& w, const Row& r, double now);
  Done local_access(Partition& q, u32 index, const Row& r, const NextAccess& n, double now, bool write);
  // Lanes that read different lines take turns.
  Done constant(Partition& q, Warp& w, const Row& r, double now, Done d);
  Done load(Partition& q, Warp& w, u32 index, const Row& r, double now);
  // A warp that has not `stored` yet asks when others ask for the rest of the line (oracle/timing/split.txt: bump).
  double global_load(const NextAccess& n, const Lines& lines, const Row& r, double at, double hit, bool stored);
  // Sectors of DRAM; next to nothing, if they only are on their way: who asked for them began at about the same time.
  double of_dram(float cost) const;
  // When the unit of loads and stores takes an access.
  double next_on_lsu(double now);
  double on_lsu(Partition& q, double now, double cycles);
  Done store(Partition& q, Warp& w, u32 index, const Row& r, double now);
  // When what the warp has stored has left, and is answered.
  double left(Warp& w, double now);
  Done generic_shared_atomic(Partition& q, Warp& w, const Row& r, const NextAccess& n, double now);
  Done atomic(Partition& q, Warp& w, const Row& r, double now);

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
  AccessQueues queues_;
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
  bool in_copy_ = false, stored_ = false;
  double apart_ = 0;  // cycles between starts of CTAs, of late
};

}  // namespace us::timing
