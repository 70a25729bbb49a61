// SPDX-License-Identifier: Apache-2.0
// Which values are tested on behalf of many addresses. Such roots become `Inst::roots` of the accesses that they speak
// for, so that they are kept where those need them.
#pragma once
#include <map>
#include <set>

#include "codegen/lower/known_bits.h"
#include "codegen/lower/reach.h"

namespace us::codegen {

// By instruction and address register: how a global address is tested.
struct BoundsPlan {
  using Key = std::pair<const ir::Inst*, u32>;
  std::set<Key> covered;               // not at all: a test in a block above speaks for it, or it is in a variable
  std::map<Key, ir::ValueId> by_root;  // by this value, for all that follow
};

// An access to an address whose low bits are those of a root gets that root.
void add_alignment_roots(ir::Function&, const ir::Cfg&, const Analysis&, const std::vector<KnownBits>&);
// The first access on each way that a root speaks for gets it.
BoundsPlan add_bounds_roots(const ir::Module&, ir::Function&, const ir::Cfg&, const Analysis&,
                            const std::vector<Reach>&);

}  // namespace us::codegen
