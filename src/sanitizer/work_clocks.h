// SPDX-License-Identifier: Apache-2.0
// Who is ordered with whom in the work graph: a clock per chain of nodes. A node continues a chain whose end it comes
// behind, whoever began it, so there are about as many
// as there is work side by side.
//
// What a thread of the program waited for comes before all that any thread submits later: the order of threads among
// themselves is not seen, so real time is assumed. Work that comes from the device (`inner`) is taken as ordered with
// everything around it.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "probe/observer.h"

namespace us::sanitizer {

class WorkClocks {
 public:
  using Clock = std::vector<u32>;  // by chain: how many nodes of it are known to be over
  struct Moment {                  // of a node
    u32 chain = 0, number = 0;     // number 0: before everything
    std::shared_ptr<const Clock> begin;
    bool inner = false;
  };

  void submitted(const probe::Work&);
  void complete(u64 node);
  void waited(u64 node);
  void begins(u64 node);                                   // the host knows all that is before it
  void tells(u64 node);                                    // whoever sees what it writes may know all that is before it
  void follows(u64 node, const std::vector<u64>& others);  // which polls: it saw what they told
  bool told(const Moment&) const;                          // to whoever sees what nodes have written
  // Of a node that was submitted; one that is not known any more is before everything.
  Moment moment(u64 node);
  // Is all of `a` over when `b` begins?
  static bool before(const Moment& a, const Moment& b);
  bool before(u64 a, u64 b, bool waited);  // waited: b is a kernel behind its griddepcontrol.wait
  bool knows(u64 node) const { return nodes_.contains(node); }
  bool is_complete(u64 node) const {
    const auto it = nodes_.find(node);
    return it != nodes_.end() && it->second.complete;
  }
  bool over_for_host(const Moment&) const;
  std::size_t chains() const { return ends_.size(); }

 private:
  struct Node {
    std::vector<u64> after;
    u64 overlaps = 0;
    std::shared_ptr<const Clock> host;  // what the host knew
    std::shared_ptr<const Clock> end;   // what is over when it is
    Moment moment;
    bool timed = false, complete = false;
    bool polls = false;  // behind nobody knows what
  };
  void time(u64 id);
  void known(const Clock&);  // to the host
  void forget_old();

  std::unordered_map<u64, Node> nodes_;
  std::vector<u32> ends_;  // by chain: the last number
  std::shared_ptr<const Clock> host_ = std::make_shared<Clock>();
  Clock told_;
  std::size_t forget_at_ = 1 << 16;
};

}  // namespace us::sanitizer
