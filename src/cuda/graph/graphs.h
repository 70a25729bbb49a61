// SPDX-License-Identifier: Apache-2.0
// What both APIs do with graphs, in the driver's terms. The caller holds the lock of all graphs (GraphLock).
#pragma once
#include <cuda.h>

#include "cuda/state.h"
#include "driver/graph/exec.h"

namespace us::cuda {

inline driver::Graphs& graphs() { return runtime().graphs(); }
class GraphLock {
 public:
  GraphLock() : l_(graphs().mutex()) {}

 private:
  std::lock_guard<std::recursive_mutex> l_;
};

// Handles. InvalidValue: none such.
driver::Error find_graph(const void* handle, driver::Graph*& out);
driver::Error find_node(const void* handle, driver::GraphNode*& out);
driver::Error find_node(const void* handle, driver::NodeType, driver::GraphNode*& out);
driver::Error find_exec(const void* handle, std::shared_ptr<driver::GraphExec>& out);
driver::Error find_nodes(const void* const* handles, size_t count, std::vector<driver::GraphNode*>& out);

// Where a new node goes.
struct NodePosition {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* after;
  const driver::EdgeData* edges;
  size_t count;
};
driver::Error check_position(const NodePosition&, driver::NodeType);
driver::Error add_node(const NodePosition&, driver::NodeType, driver::NodeParams);
driver::Error add_child(const NodePosition&, CUgraph child);
driver::Error add_event(const NodePosition&, driver::NodeType, CUevent);
driver::Error add_free(const NodePosition&, u64 address);
driver::Error add_alloc(const NodePosition&, const CUmemPoolProps&, u64 bytes, const void* given, size_t given_bytes,
                        u64& out);
driver::Error add_conditional(const NodePosition&, u64 handle, u32 type, u32 size, CUgraph*& bodies);
driver::Error event_node(driver::NodeType, CUevent, driver::NodeParams& out);
driver::Error host_params(void (*function)(void*), void* data, driver::HostOp& out);
driver::Error fill_params(driver::Context&, const CUDA_MEMSET_NODE_PARAMS&, driver::FillOp& out);
driver::Error check_mem_ops(driver::Context&, u32 count, const CUstreamBatchMemOpParams*, driver::MemOps& out);

// A node's parameters for good, or in an executable graph.
driver::Error set_node(CUgraphNode, driver::NodeType, driver::NodeParams);
driver::Error set_exec_node(CUgraphExec, CUgraphNode, driver::NodeType, driver::NodeParams);

// Lists: null asks for the count; what is left of a longer array is set to null.
driver::Error list_nodes(const std::vector<driver::GraphNode*>&, CUgraphNode* out, size_t* count);
driver::Error list_edges(const std::vector<driver::GraphEdge>& pairs, CUgraphNode* from, CUgraphNode* to,
                         driver::EdgeData* data, size_t* count);
driver::Error list_neighbours(const std::vector<driver::GraphEdge>&, CUgraphNode* out, driver::EdgeData* data,
                              size_t* count);
driver::Error change_edges(CUgraph, const CUgraphNode* from, const CUgraphNode* to, const driver::EdgeData*,
                           size_t count, bool add);

// upload: the stream in which a launch from kernels becomes possible; null: none
driver::Error instantiate(driver::Context&, CUgraph, u64 flags, driver::Stream* upload, driver::GraphExec::Outcome&,
                          CUgraphExec* out);
driver::Error update(CUgraphExec, CUgraph, driver::GraphExec::Difference&);

// Launch attributes of kernel nodes, by CUDA's number.
driver::Error get_attribute(const driver::GraphNode&, int id, CUlaunchAttributeValue& out);
driver::Error set_attribute(driver::GraphNode&, int id, CUlaunchAttributeValue&);  // may tell a handle

// Capture.
driver::Error begin_capture(driver::Stream&, int mode, CUgraph into, const CUgraphNode* after, const driver::EdgeData*,
                            size_t count);
driver::Error end_capture(driver::Stream&, CUgraph* out);
driver::Error capture_status(driver::Stream&, int& out);
driver::Error capture_info(driver::Stream&, int& status, unsigned long long* id, CUgraph* graph,
                           const CUgraphNode** after, const driver::EdgeData** edges, size_t* count);
driver::Error update_dependencies(driver::Stream&, const CUgraphNode*, const driver::EdgeData*, size_t count,
                                  unsigned flags);
driver::Error exchange_mode(int& mode);

// The arguments as the program gave them: pointers to each, or the array that names one block.
struct Arguments {
  void** each = nullptr;
  void** extra = nullptr;
};
Arguments arguments_of(driver::KernelOp&);

}  // namespace us::cuda
