// SPDX-License-Identifier: Apache-2.0
// Stands before the listener of a launch and notes which bytes of global memory the launch touches.
#pragma once
#include <bitset>
#include <functional>
#include <map>
#include <mutex>

#include "sanitizer/host_order.h"

namespace us::sanitizer {

class Footprint final : public probe::Listener {
 public:
  using Ended = std::function<void(const std::vector<HostOrder::Touched>&)>;
  Footprint(std::shared_ptr<probe::Listener> next, Ended ended) : next_(std::move(next)), ended_(std::move(ended)) {}
  probe::Strategy strategy() const override { return next_->strategy(); }
  probe::Count* counts(u32 worker) override { return next_->counts(worker); }
  void ended() override;
  void cta_begins(const probe::Who& w, u32 threads) override { next_->cta_begins(w, threads); }
  void cta_ends(const probe::Who& w) override { next_->cta_ends(w); }
  void exits(const probe::Who& w) override { next_->exits(w); }
  void access(const probe::Who&, const probe::Access&) override;
  void fence(const probe::Who& w, const probe::Fence& e) override { next_->fence(w, e); }
  void meeting(const probe::Who& w, const probe::Meeting& e) override { next_->meeting(w, e); }
  void mbarrier(const probe::Who& w, const probe::Mbarrier& e) override { next_->mbarrier(w, e); }
  void transfer(const probe::Who&, const probe::Transfer&) override;
  void copies(const probe::Who& w, const probe::Copies& e) override { next_->copies(w, e); }
  void matrix(const probe::Who& w, const probe::Matrix& e) override { next_->matrix(w, e); }

 private:
  static constexpr u64 kPage = 4096;
  struct Page {
    std::bitset<kPage> bytes[2];  // read, written
    u32 site[2] = {probe::kNoSite, probe::kNoSite};
  };
  void note(u64 begin, u64 bytes, bool write, u32 site);

  const std::shared_ptr<probe::Listener> next_;
  const Ended ended_;
  std::mutex m_;
  std::map<u64, Page> pages_;
  Page* last_ = nullptr;
  u64 last_number_ = 0;
};

}  // namespace us::sanitizer
