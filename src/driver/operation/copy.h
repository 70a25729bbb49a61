// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "driver/memory/copy.h"
#include "driver/memory/range.h"
#include "driver/operation/node_type.h"
#include "driver/operation/spans.h"
#include "driver/operation/told.h"

namespace us::device {
class GuestHeap;
}

namespace us::driver {

// A copy as CUDA_MEMCPY3D names it, for the program to read back.
struct NamedEnd {
  enum Type : int { Host = 1, Device = 2, Array = 3, Unified = 4 } type = Unified;
  u64 address = 0;
  const void* array = nullptr;
  u64 x = 0, y = 0, z = 0, pitch = 0, height = 0;
};
struct CopyNames {
  NamedEnd dst, src;
  u64 width = 0, height = 1, depth = 1;
};

struct CopyOp {
  static constexpr NodeType kType = NodeType::Memcpy;
  Copy given = {};
  CopyKind kind = CopyKind::Default;
  ContextRef where = {};
  MemoryRange dst = {}, src = {};       // found by check()
  std::optional<CopyNames> names = {};  // the program's, where they say more than `given`

  bool empty() const { return given.bytes() == 0; }
  Error check(Context&);
  Error check_on_device(const Context&, device::GuestHeap&) const;  // of a kernel that copies
  CopyNames shown() const;

  NodeRef node(Executor&) const;              // of a graph or a kernel
  NodeRef node(Executor&, bool async) const;  // of a stream; Kind::Caller: the caller does run()
  void run() const { driver::run(work()); }
  SpanRef span(const Spans& s, const trace::Place& p) const { return s.copy(p, given); }
  std::unique_ptr<probe::Work> told(const Told& t) const { return t.copy(given); }

 private:
  Copy work() const;
};

UpdateResult difference(const CopyOp&, const CopyOp&);

}  // namespace us::driver
