// SPDX-License-Identifier: Apache-2.0
// What a program submits to a stream, adds to a graph or has a kernel launch. All three go the same way:
//
//   described ── check(context) ──▶ checked value ── node() ──▶ node of the executor
//                                        └── in a capture or by hand ──▶ node of a graph; node() at each launch
//
// difference() says what may differ when an executable graph is updated, span() what a trace notes. node_types.inc is
// the table of graph nodes and what they become.
#pragma once
#include <variant>

#include "driver/operation/copy.h"
#include "driver/operation/event.h"
#include "driver/operation/fill.h"
#include "driver/operation/host_call.h"
#include "driver/operation/kernel.h"
#include "driver/operation/mem_ops.h"

namespace us::driver {

class Operation : public std::variant<KernelOp, CopyOp, FillOp, HostOp, CallbackOp, MemOps> {
 public:
  using variant::variant;
};

}  // namespace us::driver
