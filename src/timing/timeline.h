// SPDX-License-Identifier: Apache-2.0
// When the work of a process would run on its devices. Work is told in the order in which the program submitted it, and
// placed when somebody asks for its end: of what is ready, always what was ready first.
//
//   a kernel   head ─ CTAs, as many as find room on the multiprocessors ─ tail
//   a copy     on the engine of its direction; sets have one of their own
//   a stamp    an event that notes the time: it does so when it begins
//   a join     other events, waits: no time
//
// A kernel takes its part of the device: what its first wave of CTAs fills. What is there already keeps its room; if
// less is free, the kernel takes that and longer. Fences wait for what kernels that are there already write. The host
// is a clock of each thread: calls move it on, and waits.
#pragma once
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "timing/launch_profile.h"
#include "timing/parameters.h"

namespace us::timing {

// No value: there is no figure, and it takes no time.
std::optional<KernelTime> kernel_time(const LaunchProfile&);

class Timeline {
 public:
  explicit Timeline(const Parameters& p = {}) : p_(p) {}

  void submit(const WorkProfile&);                 // or waited: what the program did, in its order
  void took(u64 node, std::optional<KernelTime>);  // before it is complete
  void complete(u64 node);                         // what it takes is known
  void pass(u32 thread, double ns) { clock(thread) += ns; }
  double now(u32 thread) { return clock(thread); }

  struct Span {
    double begin = 0, end = 0;  // ns. Of a kernel: of what Nsight Compute calls its duration
  };
  std::optional<Span> span(u64 node);       // empty: it is not known yet
  double end() const { return last_end_; }  // of what has been placed

 private:
  using Kind = WorkProfile::Kind;
  struct Op {
    WorkProfile work;
    double arrival = 0, ready = 0;
    u32 missing = 0;  // predecessors that have no place yet
    bool known = false;
    KernelTime takes;
    std::vector<u64> successors;
  };
  struct Done {
    Span span;
    double last = 0;  // a kernel's last CTA
    double next = 0;  // when what comes after it in its stream may begin
    double ctas = 0;
    double gap = 0;  // of a copy: behind it
    u32 engine = 0;
    bool left_at_once = false;  // the host goes on when its call is over
    u64 stream = 0;
    Kind kind = Kind::Join;
  };
  struct Turn {
    double ready;
    u64 number, node;
    bool operator>(const Turn& o) const { return ready != o.ready ? ready > o.ready : number > o.number; }
  };
  struct Device {
    std::map<double, double> used;  // from then on, of all multiprocessors
    double engines[4] = {};         // when each is free
    double graph_nodes = 0;         // when the next one can begin
    struct Divided {
      double end, sms;
      u64 split;
    };
    std::vector<Divided> divided;  // multiprocessors, for kernels that wish for a split
    struct Holding {
      double begin, end, ns;
    };
    std::vector<Holding> holding;  // fences of other kernels
  };

  double& clock(u32 thread);
  void wait(u32 thread, u64 node);
  bool place_until(u64 node);
  void offer(u64 node, Op&);
  void place(u64 node);
  void place_kernel(const Op&, Done&);
  void place_copy(const Op&, Done&);
  double behind(u64 before, const Op&) const;
  void pass_for(const WorkProfile&);
  static double divide(const Device&, double from, const KernelTime&);
  static double held(const Device&, double from, const KernelTime&);
  double run_on(Device&, double from, const KernelTime&, double& begin);
  double head() const { return p_.launch_cycles / p_.sm_clock / 2; }
  KernelTime library_time(u64 bytes) const;

  const Parameters p_;
  std::unordered_map<u32, double> clocks_;
  double latest_ = 0;  // of all clocks
  std::unordered_map<u64, Op> pending_;
  std::unordered_map<u64, KernelTime> early_;  // of kernels that are not submitted yet
  std::priority_queue<Turn, std::vector<Turn>, std::greater<Turn>> turns_;
  std::unordered_map<u32, Device> devices_;
  std::unordered_map<u64, Done> done_;
  u64 submitted_ = 0, last_complete_ = 0;
  double last_end_ = 0;
};

}  // namespace us::timing
