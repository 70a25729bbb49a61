// SPDX-License-Identifier: Apache-2.0
// Events of a launch as lines of text: in the order in which they were told, and lane by lane. The lines of a lane do
// not depend on which lanes were told of together, so two executors of a kernel can be compared by them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "probe/counts.h"
#include "probe/listener.h"

namespace ptx_test {

class EventLog final : public us::probe::Listener {
 public:
  using Naming = std::function<std::string(us::probe::Space, us::u64 address)>;
  using Lane = std::tuple<us::u64, us::u32, us::u32>;  // CTA, warp, lane
  EventLog(us::u32 sites, Naming naming) : bytes_(sites), naming_(std::move(naming)) {}

  us::probe::Strategy strategy() const override { return us::probe::Strategy::Events; }
  void cta_begins(const us::probe::Who&, us::u32 threads) override;
  void cta_ends(const us::probe::Who&) override;
  void exits(const us::probe::Who&) override;
  void access(const us::probe::Who&, const us::probe::Access&) override;
  void fence(const us::probe::Who&, const us::probe::Fence&) override;
  void meeting(const us::probe::Who&, const us::probe::Meeting&) override;
  void mbarrier(const us::probe::Who&, const us::probe::Mbarrier&) override;
  void transfer(const us::probe::Who&, const us::probe::Transfer&) override;
  void copies(const us::probe::Who&, const us::probe::Copies&) override;
  void matrix(const us::probe::Who&, const us::probe::Matrix&) override;
  void collective(const us::probe::Who&, const us::probe::Collective&) override;
  void hint(const us::probe::Who&, const us::probe::Hint&) override;
  void image(const us::probe::Who&, const us::probe::Image&) override;

  const std::vector<std::string>& lines() const { return lines_; }
  const std::map<Lane, std::vector<std::string>>& lanes() const { return lanes_; }
  const std::vector<us::probe::Count>& bytes() const { return bytes_; }  // by site: of accesses, and by how many lanes
  // Of a site in a line; "" leaves it out.
  std::function<std::string(us::u32)> place = [](us::u32) { return std::string(); };
  bool values = true;

 private:
  void tell(const us::probe::Who&, const std::string& text);
  template <class F>
  void tell_lanes(const us::probe::Who&, const std::string& text, F&& of_lane);
  std::string ranges(std::span<const us::probe::Range>) const;

  std::vector<us::probe::Count> bytes_;
  Naming naming_;
  std::vector<std::string> lines_;
  std::map<Lane, std::vector<std::string>> lanes_;
};

}  // namespace ptx_test
