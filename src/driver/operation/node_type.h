// SPDX-License-Identifier: Apache-2.0
// The types of graph nodes: what becomes of them in the executor, and where they may be.
#pragma once
#include "driver/order/executor.h"

namespace us::driver {

class Context;

enum class NodeType : int {  // CUgraphNodeType
#define US_NODE(type, kind, body, device, off) type,
#include "driver/operation/node_types.inc"
#undef US_NODE
};

struct NodeFacts {
  Node::Kind kind;
  bool in_body, on_device, can_be_disabled;
};
inline const NodeFacts& facts_of(NodeType t) {
  static constexpr NodeFacts kFacts[] = {
#define US_NODE(type, kind, body, device, off) {Node::Kind::kind, body, device, off},
#include "driver/operation/node_types.inc"
#undef US_NODE
  };
  return kFacts[static_cast<u32>(t)];
}
inline NodeRef make_node(Executor& e, NodeType t) { return e.make(facts_of(t).kind); }

// A context that may have gone: its address alone does not tell.
struct ContextRef {
  Context* context = nullptr;
  u64 id = 0;
};

enum class UpdateResult : int {  // CUgraphExecUpdateResult
  Success,
  Error,
  TopologyChanged,
  NodeTypeChanged,
  FunctionChanged,
  ParametersChanged,
  NotSupported,
  UnsupportedFunctionChange,
  AttributesChanged,
};

}  // namespace us::driver
