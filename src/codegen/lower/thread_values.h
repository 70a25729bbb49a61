// SPDX-License-Identifier: Apache-2.0
// Values that depend on nothing but which thread of its block computes them, computed for each thread: what comes from
// %tid, the block's shape and constants by integer arithmetic. Of SSA form, for a known block.
#pragma once
#include <span>
#include <vector>

#include "codegen/code_facts.h"
#include "ir/cfg.h"

namespace us::codegen {

class ThreadValues {
 public:
  // Of what `wanted` are made from; nothing is known of others, nor of any where it would take long.
  ThreadValues(const ir::Module&, const ir::Function&, const ir::Cfg&, const CodeFacts&,
               std::span<const ir::ValueId> wanted);
  u32 threads() const { return threads_; }
  // By thread; empty: not known.
  const std::vector<u64>& of(ir::ValueId v) const { return known_[v.v]; }

 private:
  u32 threads_;
  std::vector<std::vector<u64>> known_;  // by ValueId
};

}  // namespace us::codegen
