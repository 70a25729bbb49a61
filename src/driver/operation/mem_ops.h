// SPDX-License-Identifier: Apache-2.0
// Waits for words in memory and writes to them.
#pragma once
#include <vector>

#include "driver/operation/node_type.h"
#include "driver/operation/spans.h"

namespace us::driver {

struct MemOp {
  enum Kind : u8 { Wait, Write, Barrier } kind = Barrier;
  bool wide = false;  // 64 bits
  u64 address = 0, value = 0;
  u32 how = 0;  // Wait: 0 at least, 1 equal, 2 and, 3 nor
};

struct MemOps {
  static constexpr NodeType kType = NodeType::MemOps;
  ContextRef where = {};
  std::vector<MemOp> list;  // one after the other
  std::vector<u8> given;    // the program's description, to be read back

  Error check(Context&);
  NodeRef node(Executor&) const;
  SpanRef span(const Spans& s, const trace::Place& p) const { return s.other(p, trace::Work::What::MemoryOperations); }
};

}  // namespace us::driver
