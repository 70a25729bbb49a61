// SPDX-License-Identifier: Apache-2.0
// Which device memory there is, and which was there once.
#pragma once
#include <map>
#include <optional>

#include "sanitizer/changes.h"
#include "sanitizer/host_stack.h"

namespace us::sanitizer {

class Allocations {
 public:
  explicit Allocations(Changes& c) : changes_(c) {}
  struct Thread {
    bool known = false;
    u64 cta = 0;
    u32 site = 0, warp = 0, lane = 0;
  };
  struct Block {
    u64 begin = 0, bytes = 0;
    probe::Memory::Owner owner = probe::Memory::Owner::Device;
    bool mapped = false;              // it may have other addresses, too
    HostStack::Addresses freed = {};  // where
    u64 freed_by = 0;                 // node of the work graph, or 0: at once
    Thread by = {};                   // of a kernel
    u64 end() const { return begin + bytes; }
  };
  void told(const probe::Memory&, HostStack::Addresses from = {});
  void will_free(const Thread& t) { frees_ = t; }  // a thread of a kernel, if the next to be told of is a free
  void variable(const probe::Symbol&);
  bool any() const { return !live_.empty(); }
  const Block* live(u64 address) const;   // that holds it
  const Block* freed(u64 address) const;  // that held it last, if nobody does now
  const Block* nearest(u64 address) const;
  const probe::Symbol* variable_at(u64 address) const;
  void host_wrote(u64 begin, u64 bytes);
  void discarded(u64 begin, u64 bytes);
  bool all_written(u64 begin, u64 end) const;
  template <class F>
  void each_live(F&& f) const {
    for (const auto& [begin, block] : live_) f(block);
  }
  template <class F>
  void each_freed_by_work(F&& f) const {
    for (const auto& [begin, block] : freed_) {
      if (block.freed_by) f(block);
    }
  }
  bool was_written(u64 address) const;  // by the host, by a copy, or by whom we do not hear

 private:
  static const Block* holding(const std::map<u64, Block>&, u64 address);
  std::map<u64, Block> live_, freed_;
  std::map<u64, probe::Symbol> variables_;
  std::map<u64, u64> written_;  // begin -> end, apart
  Changes& changes_;
  Thread frees_;
  mutable const Block* last_ = nullptr;
  mutable u64 last_written_[2] = {};  // within written_
};

std::string to_text(probe::Memory::Owner);

}  // namespace us::sanitizer
