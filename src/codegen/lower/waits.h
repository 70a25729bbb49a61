// SPDX-License-Identifier: Apache-2.0
// Which loops of an SSA function wait for other threads.
#pragma once
#include <deque>
#include <functional>

#include "ir/cfg.h"

namespace us::codegen {

// An instruction whose result may be produced by another thread: part of a wait.
bool is_spin(const ir::Inst&);
// One that tells threads of other blocks something: a fence, an atomic or a store that they look at.
bool tells_others(const ir::Inst&);

struct Waits {
  Waits(ir::Function&, const ir::Cfg&);
  // Does leaving the loop, by one of these conditions, depend on what another thread writes?
  bool exit_waits(int loop, const std::function<bool(const ir::Operand&)>& counts) const;
  // .. those accesses of the loop whose results decide it, and which change nothing.
  std::vector<ir::Inst*> looks(int loop) const;
  // Does it change no memory and wait for nothing else?
  bool only_reads(int loop) const;
  // Does the loop have a barrier of the block, and nothing to do but wait? All threads look at memory that another
  // block or the host writes, or one looks and tells its block through shared memory: what is loaded behind the barrier
  // decides.
  bool around_barrier(int loop) const;
  // Does what other threads have done by then decide whether the loop goes on: memory that it looks at, changes by
  // atomics, or writes as well as reads?
  bool shares(int loop) const;

  std::vector<u32> def_block;       // by ValueId
  std::vector<ir::Inst*> def_inst;  // by ValueId; null for phis

 private:
  using Test = std::function<bool(ir::Inst&)>;
  bool depends(std::vector<ir::ValueId> on, int loop, const Test&, const ir::Cfg* choices = nullptr) const;
  template <class F>
  void for_each_choice(const ir::Cfg&, u32 block, int loop, F use) const;
  std::vector<ir::ValueId> exits(int loop) const;  // conditions that end it
  bool is_lock_free_update(ir::Inst&, int loop) const;
  bool is_told(ir::Inst&, int loop) const;

  class Marks;
  ir::Function& f_;
  const ir::Cfg& c_;
  mutable std::deque<std::vector<u32>> marks_;  // by depth of questions, by ValueId: the last turn that saw it
  mutable u32 turns_ = 0, asking_ = 0;
};

}  // namespace us::codegen
