// SPDX-License-Identifier: Apache-2.0
// A node of a graph: an operation, or what only graphs have. Nothing here runs: an executable graph (exec.h) turns
// nodes into nodes of the executor at each launch.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "driver/operation/operation.h"
#include "driver/order/capture_point.h"

namespace us::driver {

class Graph;
class GraphBlock;

// A kernel node that kernels may change: what its next launch uses. Its address is the handle that they know it by.
class UpdatableNode {
 public:
  bool read(KernelOp&);  // false: disabled
  void write(const KernelOp&, bool enabled);
  Error set_param(u64 offset, const void* value, u64 bytes);
  Error set_enabled(bool);
  Error set_grid(const device::Dim3&);

 private:
  std::mutex m_;  // guards the members below
  device::Dim3 grid_;
  ParamBlock block_;
  bool enabled_ = true;
};

struct AllocParams {
  static constexpr NodeType kType = NodeType::MemAlloc;
  std::shared_ptr<GraphBlock> block;
  std::vector<u8> properties;  // the program's description, to be read back
  std::unique_ptr<probe::Work> told(const Told&) const;
};
struct FreeParams {
  static constexpr NodeType kType = NodeType::MemFree;
  u64 address = 0;
  std::unique_ptr<probe::Work> told(const Told& t) const { return t.free(address); }
};

struct Condition {  // what a conditional handle names
  u64 handle = 0;   // the address, in device memory, of the value: kernels write it
  std::atomic_ref<u32> value() const { return std::atomic_ref(*reinterpret_cast<u32*>(handle)); }
  u32 initial = 0;
  bool reset = false;  // to `initial` at each launch
  bool used = false;   // by a node
  u64 family = 0;      // Graph::family of where it may be used
};
struct ConditionalParams {
  static constexpr NodeType kType = NodeType::Conditional;
  enum Type : u32 { If = 0, While = 1, Switch = 2 } type = If;
  Condition* condition = nullptr;
  std::vector<std::unique_ptr<Graph>> bodies;
  std::vector<Graph*> handles;  // the program's view of `bodies`
};

struct ChildParams {
  static constexpr NodeType kType = NodeType::Child;
  std::unique_ptr<Graph> graph;
};

using NodeParams = std::variant<std::monostate, KernelOp, CopyOp, FillOp, HostOp, ChildParams, EventRecord, EventWait,
                                AllocParams, FreeParams, MemOps, ConditionalParams>;

// Of what has parameters.
inline NodeType type_of(const NodeParams& p) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return NodeType::Empty;
        else
          return T::kType;
      },
      p);
}

struct GraphNode;
struct GraphEdge {
  GraphNode* other = nullptr;
  EdgeData data;
};

struct GraphNode {
  NodeType type = NodeType::Empty;
  Graph* graph = nullptr;
  u64 id = 0, original = 0;  // original: id of the node that this one was cloned from
  bool enabled = true;       // in an executable graph
  NodeParams params;
  std::vector<GraphEdge> in, out;

  template <class T>
  T* as() {
    return std::get_if<T>(&params);
  }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&params);
  }
};

// The edge from the kernel that this one may run beside, if there is one. An H100 overlaps kernels with one edge only.
inline const GraphEdge* early_edge(const GraphNode& n) {
  if (n.in.size() != 1 || n.type != NodeType::Kernel) return nullptr;
  const GraphEdge& e = n.in.front();
  return e.data.from_port != EdgeData::kDefault && e.other->type == NodeType::Kernel ? &e : nullptr;
}
// griddepcontrol.wait has something to wait for in it.
inline bool waits_for_kernel(const GraphNode& n) {
  const GraphEdge* e = early_edge(n);
  return e && e->data.type == EdgeData::kProgrammaticType;
}

}  // namespace us::driver
