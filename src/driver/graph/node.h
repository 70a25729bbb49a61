// SPDX-License-Identifier: Apache-2.0
// What a node of a graph does, as the program described it. Nothing here runs: an executable graph (graph_exec.h) turns
// nodes into work of the executor at each launch.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "driver/code/launch.h"
#include "driver/memory/copy.h"

namespace us::driver {

class Context;
class Event;
class Graph;
class GraphBlock;

enum class NodeType : int {  // CUgraphNodeType
  Kernel,
  Memcpy,
  Memset,
  Host,
  Child,
  Empty,
  WaitEvent,
  RecordEvent,
  SemaphoreSignal,
  SemaphoreWait,
  MemAlloc,
  MemFree,
  MemOps,
  Conditional,
};

struct EdgeData {                                                 // laid out as CUgraphEdgeData
  enum Port : u8 { kDefault, kProgrammatic, kLaunchCompletion };  // of a kernel: when the edge lets the next node go
  static constexpr u8 kProgrammaticType = 1;
  u8 from_port = 0, to_port = 0, type = 0, reserved[5] = {};
  bool plain() const { return from_port == 0 && to_port == 0 && type == 0; }
  bool operator==(const EdgeData&) const = default;
};

// A context that may have gone: its address alone does not tell.
struct ContextRef {
  Context* context = nullptr;
  u64 id = 0;
};

// A kernel node that kernels may change: what its next launch uses. Its address is the handle that they know it by.
class UpdatableNode {
 public:
  bool read(struct KernelParams&);  // false: disabled
  void write(const struct KernelParams&, bool enabled);
  Error set_param(u64 offset, const void* value, u64 bytes);
  Error set_enabled(bool);
  Error set_grid(const device::Dim3&);

 private:
  std::mutex m_;
  device::Dim3 grid_;
  ParamBlock block_;
  bool enabled_ = true;
};

struct KernelParams {
  const void* handle = nullptr;  // as the program named it: a host stub, a kernel or a function
  ContextRef where;
  Function* function = nullptr;
  LaunchConfig config;
  ParamBlock block;
  std::map<int, AttributeBytes> attributes;  // those that were set
  device::Dim3 cluster{1, 1, 1};             // of an executable graph: found at instantiation, as the code
  std::shared_ptr<const codegen::Compiled> code;
  bool packed = false;  // the arguments were given as one block
  u64 packed_bytes = 0;
  std::vector<void*> pointers;  // into the block, for the program to read
  std::shared_ptr<UpdatableNode> updatable;

  // Attributes of a node survive when its parameters are set, and can be copied.
  void keep_attributes(const KernelParams& other) {
    attributes = other.attributes;
    updatable = other.updatable;
    config.cluster = other.config.cluster;
    config.cooperative = other.config.cooperative;
    config.priority = other.config.priority;
    config.has_priority = other.config.has_priority;
  }
};

struct CopyEndParams {  // one end of a copy, as CUDA_MEMCPY3D names it
  enum Type : int { Host = 1, Device = 2, Array = 3, Unified = 4 } type = Unified;
  u64 address = 0;
  const void* array = nullptr;
  u64 x = 0, y = 0, z = 0, pitch = 0, height = 0;
};
struct CopyParams {
  ContextRef where;
  CopyEndParams dst, src;
  u64 width = 0, height = 1, depth = 1;
  CopyKind kind = CopyKind::Default;
  Copy copy;  // what runs
  bool dst_device = false, src_device = false, pageable = false;
};

struct FillParams {
  ContextRef where;
  u64 dst = 0, pitch = 0;
  u32 value = 0, element = 1;
  u64 width = 0, height = 1;
  Fill fill;
};

struct HostParams {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  bool operator==(const HostParams&) const = default;
};

struct EventParams {
  std::shared_ptr<Event> event;
};

struct AllocParams {
  std::shared_ptr<GraphBlock> block;
  std::vector<u8> properties;  // the program's description, to be read back
};
struct FreeParams {
  u64 address = 0;
};

// A wait for a word in memory or a write to one.
struct MemOp {
  enum Kind : u8 { Wait, Write, Barrier } kind = Barrier;
  bool wide = false;  // 64 bits
  u64 address = 0, value = 0;
  u32 how = 0;  // Wait: 0 at least, 1 equal, 2 and, 3 nor
};
std::function<bool()> in_turn(std::vector<MemOp>);  // each call goes on; true when all are done
struct MemOpParams {
  ContextRef where;
  std::vector<MemOp> list;
  std::vector<u8> given;  // the program's description, to be read back
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
  enum Type : u32 { If = 0, While = 1, Switch = 2 } type = If;
  Condition* condition = nullptr;
  std::vector<std::unique_ptr<Graph>> bodies;
  std::vector<Graph*> handles;  // the program's view of `bodies`
};

struct ChildParams {
  std::unique_ptr<Graph> graph;
};

using NodeParams = std::variant<std::monostate, KernelParams, CopyParams, FillParams, HostParams, ChildParams,
                                EventParams, AllocParams, FreeParams, MemOpParams, ConditionalParams>;

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
