// SPDX-License-Identifier: Apache-2.0
// Fences of the lanes of a warp: what a strong write behind one publishes, and what a relaxed read has seen that a
// fence behind it acquires.
#pragma once
#include "sanitizer/locations.h"
#include "sanitizer/warp_time.h"

namespace us::sanitizer {

// A release that was seen but could not be acquired: a reason, should a race be found.
struct NearMiss {
  enum class Why : u8 { Scope, Domain, Relaxed } why = Why::Scope;
  u64 releaser = 0;  // CTA
  u8 warp = 0, lane = 0;
  u32 release_site = 0, acquire_site = 0;
  probe::Scope release_scope = probe::Scope::Cta, acquire_scope = probe::Scope::Cta;
};

class WarpOrder {
 public:
  // What fences of `lanes` do: acquire what was seen before (unless release only), and publish (unless acquire only).
  void fence(WarpTime&, u32 lanes, const Place&, probe::Order, probe::Scope, u32 site);
  // What a strong write by `lane` publishes beside its own release.
  void heads(const WarpTime&, u32 lane, const Place&, std::vector<Head>& into) const;
  // A strong read by `lane` observed `heads`.
  void observed(WarpTime&, u32 lane, const Place&, const std::vector<Head>&, probe::Order, probe::Scope, u32 site);
  // ... observed them with a pair of accesses that is not morally strong: for reports.
  void missed(const Place&, const std::vector<Head>&, probe::Scope, u32 site);
  // Relaxed reads that no fence has made acquires of. Behind a barrier the fence of another thread of the CTA, which
  // knows of the read, does: so one thread's ticket opens the results to all (`other`: the warp of who has read).
  bool has_pending() const { return has_pending_; }
  void borrow(const WarpTime&, u32 lanes, const WarpOrder& other, u32 its_warp);
  const std::vector<NearMiss>& misses() const { return misses_; }

 private:
  struct Record {
    u32 lanes = 0;
    Ref base;
    Clock clock = 0;
    probe::Scope scope = probe::Scope::Cta;
    u32 site = 0;
  };
  void miss(const Place&, const Head&, probe::Scope, u32 site, bool relaxed);
  bool takes(const Place&, const Head&, probe::Scope) const;
  std::vector<Record> records_;
  struct Pending {
    Head head;
    Clock at = 0;  // of the read
  };
  void remember(u32 lane, const Head&, Clock at);
  std::array<std::vector<Pending>, 32> pending_;
  bool has_pending_ = false;
  std::vector<NearMiss> misses_;  // the last few
};

}  // namespace us::sanitizer
