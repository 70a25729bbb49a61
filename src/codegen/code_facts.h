// SPDX-License-Identifier: Apache-2.0
// What decides which code a kernel becomes, besides its text and the processor. `words` is all that is compared and
// hashed; a field that it does not name does not compile.
#pragma once
#include <array>

#include "base/passes.h"
#include "device/abi/abi.h"
#include "probe/listener.h"

namespace us::codegen {

// What a launch says.
struct Variant {
  device::Dim3 block{0, 0, 0};  // 0 = generic
  device::Dim3 cluster{1, 1, 1};
  bool asks = false;  // accesses to global memory ask the device first: it is one of several, or memory is registered
  bool usual_space = false;  // device memory is at AddressSpace::kUsualStart
  bool dependent = false;    // launched to run beside its predecessors: griddepcontrol.wait has something to wait for
  probe::Strategy probe = probe::Strategy::Nothing;  // what becomes of events
  bool by_chance = false;                            // Events: warps take turns in an order that a seed chooses

  std::array<u64, 11> words() const {
    const auto& [b, c, asks_first, usual, waits, events, chance] = *this;
    return {b.x, b.y, b.z, c.x, c.y, c.z, asks_first, usual, waits, static_cast<u64>(events), chance};
  }
  bool operator==(const Variant& o) const { return words() == o.words(); }
};

// What a process chose.
struct CodeChoices {
  bool force_varying = false;    // no uniform or pattern shapes: for cross checks
  bool force_its = false;        // every function in independent-thread-scheduling mode: for cross checks
  bool deferred_copies = false;  // asynchronous copies go through the copy engine, which may deliver them late
  bool fast_math = false;        // approximate f32 instructions within their bounds, not with the bits of the device
  u32 many_blocks = 300;  // a function of more blocks gets the cheaper form (llvm/forgetting.h, llvm/promote_slots.h)
  PassSet disabled;

  std::array<u64, 6> words() const {
    const auto& [varying, its, deferred, fast, many, off] = *this;
    return {varying, its, deferred, fast, many, off.word()};
  }
  bool operator==(const CodeChoices& o) const { return words() == o.words(); }
};

struct CodeFacts : Variant, CodeChoices {
  CodeFacts(const Variant& launch = {}, const CodeChoices& process = {})
      : Variant(launch),
        CodeChoices(process),
        cluster_one(cluster.x * cluster.y * cluster.z == 1),
        one_thread(u64{block.x} * block.y * block.z == 1 && !force_varying && !force_its) {}

  bool operator==(const CodeFacts& o) const {
    return Variant::words() == o.Variant::words() && CodeChoices::words() == o.CodeChoices::words();
  }
  template <class F>
  void visit(F&& word) const {
    for (u64 w : Variant::words()) word(w);
    for (u64 w : CodeChoices::words()) word(w);
  }

  bool full_warps() const { return block.x && (u64{block.x} * block.y * block.z) % kWarpSize == 0; }
  u32 warps() const { return block.x ? (block.x * block.y * block.z + kWarpSize - 1) / kWarpSize : 0; }

  bool counts() const { return Variant::probe == probe::Strategy::Counts || records(); }
  bool records() const { return Variant::probe == probe::Strategy::Records; }
  bool events() const { return Variant::probe == probe::Strategy::Events; }
  bool probed() const { return Variant::probe != probe::Strategy::Nothing; }

  // What follows from the others.
  bool cluster_one;
  bool one_thread;  // the block is one thread: only lane 0 is ever active, so every value is uniform
};

}  // namespace us::codegen
