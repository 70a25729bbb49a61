// SPDX-License-Identifier: Apache-2.0
// Events of an imagined launch, made by hand: who does what, in the order in which it is written down.
#pragma once
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sanitizer/checker.h"

namespace us::sanitizer::test {

using probe::Order;
using probe::Scope;
using probe::Space;

struct Shape {
  u32 ctas = 1, threads = 64, cluster = 1;
  u32 shared = 4096;
  u32 domain = 0;
  bool dependent = false;
  bool barriers_only = false;
  bool in_turns = false;  // CTAs run one behind the other, all warps of one in one call: begin_cta
  std::vector<probe::Symbol> symbols = {};
  std::optional<std::vector<u64>> stored_to = {};
};

constexpr u64 kShared = 1024;  // first byte that a program has

class Sim;

// Some lanes of a warp.
class Lanes {
 public:
  Lanes(Sim& s, u32 cta, u32 warp, u32 lanes) : sim_(s), cta_(cta), warp_(warp), lanes_(lanes) {}
  Lanes& at(u32 site) { return site_ = site, *this; }
  Lanes& load(Space, u64 address, u32 bytes = 4, u64 stride = 0, Order = Order::Weak, Scope = Scope::Gpu);
  Lanes& store(Space, u64 address, u32 bytes = 4, u64 stride = 0, Order = Order::Weak, Scope = Scope::Gpu);
  Lanes& halves(probe::Access::Kind, u64 low, u64 high, u32 bytes);  // of global memory: a row of each half of the warp
  Lanes& store_value(Space, u64 address, std::vector<u64> of_lanes);
  Lanes& load_nc(u64 address);
  Lanes& atomic(Space, u64 address, Order = Order::Relaxed, Scope = Scope::Gpu, u32 bytes = 4);
  Lanes& fence(Order = Order::AcqRel, Scope = Scope::Gpu);
  Lanes& proxy_fence();
  Lanes& proxy_fence(Space);
  Lanes& fence_as(probe::Fence::Kind);
  Lanes& sync(u32 members = 0);
  Lanes& arrive(u32 barrier, u32 threads = 0, bool only = false);
  Lanes& leave(u32 barrier, u32 threads = 0);
  Lanes& cluster_arrive(bool relaxed = false);
  Lanes& cluster_wait();
  Lanes& init(u64 mbarrier, u32 count);
  Lanes& inval(u64 mbarrier);
  Lanes& mb_arrive(u64 mbarrier, u32 count = 1, i64 tx = 0, Order = Order::Release, Scope = Scope::Cta);
  Lanes& expect(u64 mbarrier, i64 tx);
  Lanes& mb_wait(u64 mbarrier, bool parity, bool done = true, Order = Order::Acquire, Scope = Scope::Cta);
  Lanes& copies_arrive(u64 mbarrier, bool noinc = false);
  Lanes& cp_async(u64 to_shared, u64 from_global, u32 bytes = 16);
  Lanes& cp_async_row(u64 to_shared, u64 from_global, u32 bytes);  // of all 32 lanes, as one event
  Lanes& commit(bool bulk = false);
  Lanes& wait_group(u64 left, bool bulk = false, bool read_only = false);
  Lanes& bulk_load(u64 to_shared, u64 from_global, u32 bytes, u64 mbarrier, bool deliver = true);
  Lanes& bulk_store(u64 to_global, u64 from_shared, u32 bytes);
  Lanes& store_async(u64 to_shared, u32 bytes, u64 mbarrier);
  Lanes& complete(u64 mbarrier, i64 bytes);
  Lanes& wgmma(u64 shared, u32 bytes);
  Lanes& wgmma_commit();
  Lanes& wgmma_wait(u32 left);
  Lanes& grid_wait();
  Lanes& exit();

 private:
  probe::Who who() const;
  void each(const std::function<void(const probe::Who&, u32 lane)>&);
  Lanes& access(probe::Access::Kind, Space, u64, u32 bytes, u64 stride, Order, Scope, bool nc = false);
  Sim& sim_;
  u32 cta_, warp_, lanes_, site_ = 1;
};

class Sim {
 public:
  explicit Sim(Shape = {});
  Lanes thread(u32 t, u32 cta = 0) { return {*this, cta, t / 32, 1u << (t % 32)}; }
  Lanes warp(u32 w, u32 cta = 0) { return {*this, cta, w, live(cta, w)}; }
  Lanes lanes(u32 w, u32 mask, u32 cta = 0) { return {*this, cta, w, mask}; }
  Sim& barrier(u32 cta = 0, u32 id = 0);                                            // __syncthreads
  Sim& named(u32 id, std::vector<u32> sync, std::vector<u32> arrive, u32 cta = 0);  // warps
  Sim& cluster_sync(bool relaxed = false);
  Sim& begin_cta(u32 cta);
  Sim& end_cta(u32 cta);
  Sim& allocate(u64 begin, u64 bytes, bool written = true);
  Sim& free(u64 begin, u64 bytes);
  Sim& next(Shape);  // another launch
  Sim& fault(probe::Refused what, u32 site = probe::kNoSite) {
    return checker.fault(info.id, {.refused = what, .lanes = 1, .site = site, .spins = {}}, "the device's text"), *this;
  }
  // Ends the launch. The names of errors, or of all findings, sorted, with no name twice: "race-shared misaligned".
  std::string errors() { return names(true); }
  std::string all() { return names(false); }
  const std::vector<Finding>& findings();
  u32 live(u32 cta, u32 warp) const { return live_[cta][warp]; }

  Checker checker;
  std::shared_ptr<probe::Listener> listener;
  u64 quick_settled = 0;  // accesses that needed no event
  u64 in_place_ = 0;      // of them: that needed no call
  bool in_place = true;   // try that
  static constexpr u64 kNoStride = 1;
  void tell(const probe::Who&, const probe::Access&, u64 stride);
  probe::LaunchInfo info;
  Shape shape;

 private:
  friend class Lanes;
  struct Meter {
    u32 generation = 0, arrived = 0;
  };
  std::string names(bool errors_only);
  void begin();
  std::vector<std::vector<u32>> live_;
  std::vector<std::vector<Meter>> barriers_;
  std::vector<u32> cluster_generation_;
  std::vector<Finding> findings_;
  std::map<std::pair<u64, u32>, probe::Quick*> quick_;  // by CTA and warp
  u64 copies_ = 0;
  struct Object {
    i64 expected = 0, pending = 0, tx = 0;
  };
  bool step(u32 cluster, u64 at, i64 arrivals, i64 tx);  // true: the phase is complete
  std::map<std::pair<u32, u64>, Object> objects_;
};

}  // namespace us::sanitizer::test
