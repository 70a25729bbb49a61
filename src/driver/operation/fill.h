// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "driver/memory/copy.h"
#include "driver/memory/range.h"
#include "driver/operation/node_type.h"
#include "driver/operation/spans.h"
#include "driver/operation/told.h"

namespace us::device {
class GuestHeap;
}

namespace us::driver {

struct FillOp {
  static constexpr NodeType kType = NodeType::Memset;
  Fill given = {};
  ContextRef where = {};
  MemoryRange dst = {};  // found by check()

  bool empty() const { return given.bytes() == 0; }
  Error check(Context&);
  Error check_on_device(const Context&, device::GuestHeap&) const;  // of a kernel that sets memory

  NodeRef node(Executor&) const;              // of a graph or a kernel
  NodeRef node(Executor&, bool async) const;  // of a stream; Kind::Caller: the caller does run()
  void run() const { driver::run(work()); }
  SpanRef span(const Spans& s, const trace::Place& p) const { return s.fill(p, given); }
  std::unique_ptr<probe::Work> told(const Told& t) const { return t.fill(given); }

 private:
  Fill work() const;
};

UpdateResult difference(const FillOp&, const FillOp&);

}  // namespace us::driver
