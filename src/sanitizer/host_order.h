// SPDX-License-Identifier: Apache-2.0
// Work that streams, events, graphs and waiting threads leave unordered, and that touches the same memory: copies and
// sets by the ranges of their calls, kernels by what they touched (touched.cpp), blocks of pools by the nodes that
// allocate and free them. Kernels against each other are the launches' own affair, which ask here for their order.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_set>

#include "sanitizer/host_stack.h"
#include "sanitizer/order.h"
#include "sanitizer/process.h"
#include "sanitizer/sink.h"
#include "sanitizer/work_clocks.h"

namespace us::sanitizer {

class HostOrder final : public LaunchOrder {
 public:
  HostOrder(Sink& sink, const HostStack& stack) : sink_(sink), stack_(stack) {}
  void work(const probe::Work&);
  void memory(const probe::Memory&);
  void launched(const probe::LaunchInfo&);
  // What a kernel touched: told before anybody hears that it has ended.
  void touched(const probe::LaunchInfo&, const std::vector<Touched>&);
  // Adds where the kernels of a finding were launched, as far as an interpreter's program says.
  void add_launches(Finding&) const;
  // The program's own accesses to memory that it shares with devices.
  bool watches_host() const;        // there is such memory, and no kernel was seen that tells the host by flags
  bool watches(u64 address) const;  // it lies there
  bool idle() const;                // nothing that was submitted is under way
  u64 submitted() const;            // how many pieces of work were
  struct Unknown {
    u64 begin = 0, bytes = 0;
    bool written = false;
  };
  std::vector<Unknown> unknown_to_host() const;  // what work has touched that the program has not waited for
  template <class Stack>
  void host_touches(u64 address, bool write, Stack&& stack) {
    const std::lock_guard l(m_);
    if (const Mark* const other = unordered_with_host(address, write)) host_access(*other, address, write, stack());
  }
  // A kernel may tell the host that something is done: by a store to memory that it shares, or by a fence for one.
  void host_is_told(u64 launch, bool by_fence);
  void kernel_is_told(u64 launch);  // it sees what the host or a stream has written while it runs
  bool before(u64 a, u64 b, bool waited) const override;
  bool node_before(u64 node, u64 launch) const override;
  bool launch_before(u64 launch, u64 node) const override;

 private:
  enum class Does : u8 { Read, Write, Allocate, Free };
  struct Deed {  // of a node
    std::string what, kernel;
    u64 stream = 0, launch = 0;
    HostStack::Addresses stack;
    std::function<probe::SiteInfo(u32)> site;
  };
  struct Mark {
    WorkClocks::Moment when;
    u64 node = 0;
    Does does = Does::Read;
    u32 site = probe::kNoSite;
    bool fetched = false, waited = true;  // as of Touched
    std::shared_ptr<const Deed> by;
  };
  struct Span {
    u64 end = 0;
    std::vector<Mark> marks;
  };
  struct Talk {       // of a kernel with the host or a stream
    u64 told_at = 0;  // the last node that was submitted before it told the host something; 0: it never did
    bool hears = false;
  };
  struct Word {  // that a stream has written
    u64 node = 0, value = 0;
    bool others = false;  // kernels or copies write it, too
  };
  struct Pending {  // what a node will have done when it is complete
    std::shared_ptr<const Deed> by;
    std::vector<std::pair<probe::Range, Does>> ranges;
  };
  void submitted(const probe::Work&);
  void tells(const probe::Work&);
  void hears(const probe::Work&);
  bool talked(u64 a, const WorkClocks::Moment&, u64 b) const;  // is a before b by such words?
  bool shared_block(u64 address) const;
  bool known_to_host(const Mark&) const;
  const Mark* unordered_with_host(u64 address, bool write) const;
  void host_access(const Mark&, u64 address, bool write, HostStack::Addresses);
  void complete(u64 node);
  void touch(u64 begin, u64 end, const Mark&);
  void judge(Span&, u64 begin, const Mark&);
  bool ordered(const Mark&, const Mark&) const;
  bool used_behind(const Mark& free, const Mark& use) const;
  void report(const Mark& earlier, const Mark& later, u64 begin, u64 bytes);
  Party party(const Mark&) const;
  void add_launches_held(Finding&) const;
  std::string object(u64 begin, u64 bytes) const;
  void forget(u64 begin, u64 end);
  std::map<u64, Span>::iterator split(u64 at);

  Sink& sink_;
  const HostStack& stack_;
  mutable std::mutex m_;
  mutable WorkClocks clocks_;
  std::unordered_map<u64, Pending> pending_;           // by node
  std::map<u64, u64> node_of_;                         // by launch, of the last ones
  std::map<u64, HostStack::Addresses> launched_from_;  // by node, of the last ones
  std::map<u64, u64> blocks_;                          // allocations, and their bytes
  std::map<u64, u64> shared_;                          // of these, the program's and the devices'
  std::unordered_set<u64> under_way_;                  // nodes
  std::map<u64, Talk> talks_;                          // by node, of the last ones
  std::map<u64, Word> words_;                          // by address
  u64 submitted_ = 0, newest_ = 0;
  std::atomic<bool> host_told_ = false;
  std::map<u64, Span> spans_;  // by their first byte, apart from each other
};

}  // namespace us::sanitizer
