// SPDX-License-Identifier: Apache-2.0
// The observer of `understudy check`: gives each launch its listener, and hears of memory and work.
#pragma once
#include <deque>
#include <map>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

class Checker final : public probe::Observer {
 public:
  explicit Checker(Options = {});
  void set_stack(HostStack s) { process_.stack = std::move(s); }
  // Global memory that has its cells in planes, and how a word of it is read.
  void set_memory(u64 begin, u64 bytes, Shadow::Memory);
  void on_host_told(std::function<void(u64 launch, bool by_fence)> f) { process_.on_host_told = std::move(f); }
  void on_kernel_told(std::function<void(u64 launch)> f) { process_.on_kernel_told = std::move(f); }
  void on_touched(TouchedHook h) { process_.on_touched = std::move(h); }
  void set_order(std::shared_ptr<const LaunchOrder>);  // before the first launch
  std::shared_ptr<probe::Listener> launch(const probe::LaunchInfo&) override;
  void memory(const probe::Memory&) override;
  void work(const probe::Work&) override;
  void fault(u64 launch, const probe::Fault&, const std::string& text) override;
  void on_conflict(ConflictHook h) { process_.on_conflict = std::move(h); }
  // Some loads of the launch were not judged: stores came where nobody expected them.
  bool astray(u64 launch) const { return process_.astray.contains(launch); }
  void most_segments(u32 n) { process_.most_segments = n; }  // see Process
  u32 segments() const { return process_.segments.next().warps; }
  bool spent() const { return process_.spent; }  // some of a launch was not judged
  void add(Finding);                             // of others: the host side
  std::vector<Finding> take();

 private:
  Process process_;
  std::deque<std::shared_ptr<LaunchChecker>> recent_;
  std::map<u64, std::pair<probe::Memory, HostStack::Addresses>> freeing_;  // by node of the work graph
  std::vector<Finding> others_;
};

}  // namespace us::sanitizer
