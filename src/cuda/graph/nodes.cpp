// SPDX-License-Identifier: Apache-2.0
#include "cuda/graph/nodes.h"

#include <algorithm>
#include <cstring>

namespace us::cuda {

using namespace driver;

bool well_formed(const CUgraphNodeParams* p) {
  return p && std::ranges::all_of(p->reserved0, [](int v) { return v == 0; }) && p->reserved2 == 0;
}

Error add_generic(Context& c, const NodePosition& place, CUgraphNodeParams& p) {
  const auto type = static_cast<NodeType>(p.type);
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return add_node(place, type, {});
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      if (p.graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) return add_child(place, p.graph.graph);
      Graph* child = nullptr;
      US_TRY(find_graph(p.graph.graph, child));
      US_TRY(check_position(place, type));
      if (child->nested || child->any(NodeType::Conditional)) return Error::InvalidValue;
      ChildParams params;
      params.graph = graphs().disown(*child);
      params.graph->nested = true;
      return add_node(place, type, std::move(params));
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      u64 at = 0;
      US_TRY(add_alloc(place, p.alloc.poolProps, p.alloc.bytesize, &p.alloc, sizeof p.alloc, at));
      p.alloc.dptr = at;
      return Error::Success;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return add_free(place, p.free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return add_conditional(place, p.conditional.handle, p.conditional.type, p.conditional.size,
                             p.conditional.phGraph_out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return Error::NotSupported;
    default: {
      NodeParams params;
      US_TRY(generic_params(c, p, params));
      return add_node(place, type, std::move(params));
    }
  }
}

Error generic_params(Context& c, const CUgraphNodeParams& p, NodeParams& out) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS m{p.memset.dst,         p.memset.pitch, p.memset.value,
                                      p.memset.elementSize, p.memset.width, p.memset.height};
      return fill_params(c, m, out.emplace<FillOp>());
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_params(p.host.fn, p.host.userData, out.emplace<HostOp>());
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_node(NodeType::WaitEvent, p.eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_node(NodeType::RecordEvent, p.eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return p.memOp.flags ? Error::InvalidValue
                           : check_mem_ops(c, p.memOp.count, p.memOp.paramArray, out.emplace<MemOps>());
    default:
      return Error::InvalidValue;
  }
}

CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const AllocParams& a) {
  CUDA_MEM_ALLOC_NODE_PARAMS p{};
  if (!a.properties.empty()) {
    std::memcpy(&p, a.properties.data(), std::min(a.properties.size(), sizeof p));
  } else {
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {static_cast<int>(a.block->device())}};
  }
  p.bytesize = a.block->bytes();
  p.dptr = a.block->address();
  return p;
}

CUDA_MEMSET_NODE_PARAMS memset_params(const FillOp& f) {
  return {f.given.dst, f.given.pitch, f.given.value, f.given.element, f.given.width, f.given.height};
}

}  // namespace us::cuda
