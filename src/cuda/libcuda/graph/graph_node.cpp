// SPDX-License-Identifier: Apache-2.0
// Graph Management: nodes and their parameters.
#include <cstring>

#include "cuda/graph/node_calls.h"
#include "cuda/graph/nodes.h"
#include "cuda/libcuda/driver_api.h"
#include "cuda/libcuda/memory/array_copy.h"
#include "driver/code/launch.h"

using namespace us::cuda;
using us::u64;
using us::driver::CopyNames;
using us::driver::CopyOp;
using us::driver::EdgeData;
using us::driver::FillOp;
using us::driver::GraphNode;
using us::driver::KernelOp;
using us::driver::MemOps;
using us::driver::NamedEnd;
using us::driver::NodeParams;
using us::driver::NodeType;

// The header maps old names to new functions; here each has its own.
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams

namespace {

struct DriverApi {
  // f(Context*) → Error; the current context, which nodes that name theirs do not need
  template <class F>
  static CUresult locked(F&& f) {
    if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
    Context* current = nullptr;
    driver_context(current);
    GraphLock lock;
    return result(f(current));
  }
};
using Nodes = NodeCalls<DriverApi>;

Error context_of(CUcontext given, Context* current, Context*& out) {
  out = given ? runtime().find_context(given) : current;
  return out ? Error::Success : Error::InvalidContext;
}

// Copies and sets that neither name a context nor find one current work in that of the memory's device.
Error context_of(CUcontext given, Context* current, us::u64 memory, Context*& out) {
  if (!given && !current) {
    const auto a = runtime().registry().find(memory);
    current = &runtime().device(a ? a->device : 0).primary();
  }
  return context_of(given, current, out);
}

// CUDA_KERNEL_NODE_PARAMS_v2 and v3 name their fields alike.
template <class P>
Error kernel_of(Context* current, const P& p, KernelOp& out) {
  Context* c = nullptr;
  Function* f = nullptr;
  const void* handle = p.func ? static_cast<const void*>(p.func) : p.kern;
  if (p.func) {  // it has a context, and what is named does not count
    c = runtime().context_of_function(handle);
    if (!c) c = current;
    if (!c) return Error::InvalidContext;
  } else {
    US_TRY(context_of(p.ctx, current, c));
  }
  US_TRY(find_loaded(*c, handle, f));
  us::driver::LaunchArgs args{.pointers = p.kernelParams};
  US_TRY(read_extra(p.extra, args));
  out = {.function = f,
         .config = {.grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
                    .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
                    .dynamic_shared = p.sharedMemBytes},
         .arguments = args,
         .handle = handle};
  return out.check(*c);
}

CUDA_KERNEL_NODE_PARAMS_v2 newer(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUDA_KERNEL_NODE_PARAMS_v2 n{};
  static_assert(sizeof p <= sizeof n);
  std::memcpy(&n, &p, sizeof p);
  return n;
}

void name_end(CUmemorytype type, CUarray array, u64 start, u64 x, u64 y, u64 z, u64 pitch, u64 height, NamedEnd& out) {
  out = {.type = static_cast<NamedEnd::Type>(type),
         .address = start,
         .array = array,
         .x = x,
         .y = y,
         .z = z,
         .pitch = pitch,
         .height = height};
}

Error copy_of(Context* current, const CUDA_MEMCPY3D* p, CUcontext ctx, CopyOp& out) {
  if (!p) return Error::InvalidValue;
  Context* c = nullptr;
  US_TRY(context_of(ctx, current, p->dstDevice, c));
  US_TRY(us::cuda::copy_of(*p, out.given, out.kind));
  US_TRY(out.check(*c));
  CopyNames names = out.shown();
  const auto start = [](CUmemorytype t, const void* host, CUdeviceptr device) {
    return t == CU_MEMORYTYPE_HOST ? reinterpret_cast<u64>(host) : t == CU_MEMORYTYPE_ARRAY ? 0 : device;
  };
  name_end(p->dstMemoryType, p->dstMemoryType == CU_MEMORYTYPE_ARRAY ? p->dstArray : nullptr,
           start(p->dstMemoryType, p->dstHost, p->dstDevice), p->dstXInBytes, p->dstY, p->dstZ, p->dstPitch,
           p->dstHeight, names.dst);
  name_end(p->srcMemoryType, p->srcMemoryType == CU_MEMORYTYPE_ARRAY ? p->srcArray : nullptr,
           start(p->srcMemoryType, p->srcHost, p->srcDevice), p->srcXInBytes, p->srcY, p->srcZ, p->srcPitch,
           p->srcHeight, names.src);
  out.names = names;
  return Error::Success;
}

CUDA_MEMCPY3D params_of(const CopyOp& op) {
  const CopyNames p = op.shown();
  CUDA_MEMCPY3D o{};
  const auto array = [](const NamedEnd& e) { return static_cast<CUarray>(const_cast<void*>(e.array)); };
  o.srcMemoryType = static_cast<CUmemorytype>(p.src.type);
  o.dstMemoryType = static_cast<CUmemorytype>(p.dst.type);
  if (p.src.type == NamedEnd::Host)
    o.srcHost = reinterpret_cast<void*>(p.src.address);
  else
    o.srcDevice = p.src.address;
  if (p.dst.type == NamedEnd::Host)
    o.dstHost = reinterpret_cast<void*>(p.dst.address);
  else
    o.dstDevice = p.dst.address;
  o.srcArray = array(p.src);
  o.dstArray = array(p.dst);
  o.srcXInBytes = p.src.x;
  o.srcY = p.src.y;
  o.srcZ = p.src.z;
  o.srcPitch = p.src.pitch;
  o.srcHeight = p.src.height;
  o.dstXInBytes = p.dst.x;
  o.dstY = p.dst.y;
  o.dstZ = p.dst.z;
  o.dstPitch = p.dst.pitch;
  o.dstHeight = p.dst.height;
  o.WidthInBytes = p.width;
  o.Height = p.height;
  o.Depth = p.depth;
  return o;
}

template <class P>
Error replace_kernel(Context* c, CUgraphNode n, const P* given, KernelOp& k) {
  if (!given) return Error::InvalidValue;
  return us::cuda::replace_kernel(n, k, [&](KernelOp& out) { return kernel_of(c, *given, out); });
}

CUresult add_kernel(const NodePosition& place, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return Nodes::add<KernelOp>(place, NodeType::Kernel,
                              [&](Context* c, KernelOp& k) { return p ? kernel_of(c, *p, k) : Error::InvalidValue; });
}

CUDA_KERNEL_NODE_PARAMS_v2 params_of(KernelOp& k) {
  CUDA_KERNEL_NODE_PARAMS_v2 p{};
  const auto &g = k.config.grid, &b = k.config.block;
  p.func = reinterpret_cast<CUfunction>(k.function);
  p.gridDimX = g.x;
  p.gridDimY = g.y;
  p.gridDimZ = g.z;
  p.blockDimX = b.x;
  p.blockDimY = b.y;
  p.blockDimZ = b.z;
  p.sharedMemBytes = static_cast<unsigned>(k.config.dynamic_shared);
  const Arguments a = arguments_of(k);
  p.kernelParams = a.each;
  p.extra = a.extra;
  p.ctx = reinterpret_cast<CUcontext>(k.where.context);
  return p;
}

Error mem_ops_of(Context* current, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p, MemOps& out) {
  Context* c = nullptr;
  if (!p || p->flags) return Error::InvalidValue;
  US_TRY(context_of(p->ctx, current, c));
  return check_mem_ops(*c, p->count, p->paramArray, out);
}

Error fill_of(Context* current, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext ctx, FillOp& out) {
  Context* c = nullptr;
  if (!p) return Error::InvalidValue;
  US_TRY(context_of(ctx, current, p->dst, c));
  return fill_params(*c, *p, out);
}

}  // namespace

US_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS* p) {
  return add_kernel({out, g, after, nullptr, count}, p);
}
US_API CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                                     const CUDA_KERNEL_NODE_PARAMS_v1* p);
US_API CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                                     const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const auto n = newer(*p);
  return add_kernel({out, g, after, nullptr, count}, &n);
}
US_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::get<KernelOp>(n, NodeType::Kernel, [&](KernelOp& k) { *out = params_of(k); });
}
US_API CUresult cuGraphKernelNodeGetParams(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS_v1* out);
US_API CUresult cuGraphKernelNodeGetParams(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::get<KernelOp>(n, NodeType::Kernel, [&](KernelOp& k) {
    const auto p = params_of(k);
    std::memcpy(out, &p, sizeof *out);
  });
}
US_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS* p) {
  return Nodes::set<KernelOp>(n, NodeType::Kernel, [&](Context* c, KernelOp& k) { return replace_kernel(c, n, p, k); });
}
US_API CUresult cuGraphKernelNodeSetParams(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1* p);
US_API CUresult cuGraphKernelNodeSetParams(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const auto v2 = newer(*p);
  return cuGraphKernelNodeSetParams_v2(n, &v2);
}
US_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS* p) {
  return Nodes::set_exec<KernelOp>(x, n, NodeType::Kernel,
                                   [&](Context* c, KernelOp& k) { return replace_kernel(c, n, p, k); });
}
US_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1* p);
US_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const auto v2 = newer(*p);
  return cuGraphExecKernelNodeSetParams_v2(x, n, &v2);
}
US_API CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                                     const CUDA_MEMCPY3D* p, CUcontext ctx) {
  return Nodes::add<CopyOp>({out, g, after, nullptr, count}, NodeType::Memcpy,
                            [&](Context* c, CopyOp& k) { return copy_of(c, p, ctx, k); });
}
US_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode n, CUDA_MEMCPY3D* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::get<CopyOp>(n, NodeType::Memcpy, [&](const CopyOp& p) { *out = params_of(p); });
}
US_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode n, const CUDA_MEMCPY3D* p) {
  return Nodes::set<CopyOp>(n, NodeType::Memcpy, [&](Context* c, CopyOp& k) { return copy_of(c, p, nullptr, k); });
}
US_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_MEMCPY3D* p, CUcontext ctx) {
  return Nodes::set_exec<CopyOp>(x, n, NodeType::Memcpy, [&](Context* c, CopyOp& k) { return copy_of(c, p, ctx, k); });
}

US_API CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                                     const CUDA_MEMSET_NODE_PARAMS* p, CUcontext ctx) {
  return Nodes::add<FillOp>({out, g, after, nullptr, count}, NodeType::Memset,
                            [&](Context* c, FillOp& f) { return fill_of(c, p, ctx, f); });
}
US_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode n, CUDA_MEMSET_NODE_PARAMS* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::get<FillOp>(n, NodeType::Memset, [&](const FillOp& f) { *out = memset_params(f); });
}
US_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS* p) {
  return Nodes::set<FillOp>(n, NodeType::Memset, [&](Context* c, FillOp& f) { return fill_of(c, p, nullptr, f); });
}
US_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS* p,
                                               CUcontext ctx) {
  return Nodes::set_exec<FillOp>(x, n, NodeType::Memset, [&](Context* c, FillOp& f) { return fill_of(c, p, ctx, f); });
}

US_API CUresult cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                                         const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return Nodes::add<MemOps>({out, g, after, nullptr, count}, NodeType::MemOps,
                            [&](Context* c, MemOps& m) { return mem_ops_of(c, p, m); });
}
US_API CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode n, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::get<MemOps>(n, NodeType::MemOps, [&](MemOps& m) {
    *out = {reinterpret_cast<CUcontext>(m.where.context), static_cast<unsigned>(m.list.size()),
            reinterpret_cast<CUstreamBatchMemOpParams*>(m.given.data()), 0};
  });
}
US_API CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode n, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return Nodes::set<MemOps>(n, NodeType::MemOps, [&](Context* c, MemOps& m) { return mem_ops_of(c, p, m); });
}
US_API CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec x, CUgraphNode n,
                                                   const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return Nodes::set_exec<MemOps>(x, n, NodeType::MemOps, [&](Context* c, MemOps& m) { return mem_ops_of(c, p, m); });
}

namespace {
CUcontext named(const CUgraphNodeParams& p) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return p.memset.ctx;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return p.memOp.ctx;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return p.conditional.ctx;
    default:
      return nullptr;
  }
}

// Only sets and memory operations work in a context; for the others any will do.
Error add_other(Context* current, const NodePosition& place, CUgraphNodeParams& p) {
  Context* c = nullptr;
  if (p.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
    US_TRY(context_of(named(p), current, c));
  else
    US_TRY(context_of(named(p), current, p.type == CU_GRAPH_NODE_TYPE_MEMSET ? p.memset.dst : 0, c));
  return add_generic(*c, place, p);
}

Error params_of(Context* c, const CUgraphNodeParams& p, CUgraphNode n, NodeParams& out) {
  if (p.type == CU_GRAPH_NODE_TYPE_MEMCPY)
    return copy_of(c, &p.memcpy.copyParams, p.memcpy.copyCtx, out.emplace<CopyOp>());
  if (p.type != CU_GRAPH_NODE_TYPE_KERNEL) {
    Context* own = nullptr;
    US_TRY(context_of(named(p), c, p.type == CU_GRAPH_NODE_TYPE_MEMSET ? p.memset.dst : 0, own));
    return generic_params(*own, p, out);
  }
  auto& k = out.emplace<KernelOp>();
  return n ? replace_kernel(c, n, &p.kernel, k) : kernel_of(c, p.kernel, k);
}
}  // namespace

US_API CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph g, const CUgraphNode* after, const CUgraphEdgeData* edges,
                                  size_t count, CUgraphNodeParams* p) {
  if (!well_formed(p)) return CUDA_ERROR_INVALID_VALUE;
  const NodePosition place{out, g, after, reinterpret_cast<const EdgeData*>(edges), count};
  if (p->type != CU_GRAPH_NODE_TYPE_KERNEL && p->type != CU_GRAPH_NODE_TYPE_MEMCPY)
    return DriverApi::locked([&](Context* c) { return add_other(c, place, *p); });
  return Nodes::add<NodeParams>(place, static_cast<NodeType>(p->type),
                                [&](Context* c, NodeParams& made) { return params_of(c, *p, nullptr, made); });
}
US_API CUresult cuGraphAddNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                               CUgraphNodeParams* p);
US_API CUresult cuGraphAddNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count,
                               CUgraphNodeParams* p) {
  return cuGraphAddNode_v2(out, g, after, nullptr, count, p);
}
US_API CUresult cuGraphNodeSetParams(CUgraphNode n, CUgraphNodeParams* p) {
  if (!well_formed(p)) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::set<NodeParams>(n, static_cast<NodeType>(p->type),
                                [&](Context* c, NodeParams& made) { return params_of(c, *p, n, made); });
}
US_API CUresult cuGraphExecNodeSetParams(CUgraphExec x, CUgraphNode n, CUgraphNodeParams* p) {
  if (!well_formed(p)) return CUDA_ERROR_INVALID_VALUE;
  return Nodes::set_exec<NodeParams>(x, n, static_cast<NodeType>(p->type),
                                     [&](Context* c, NodeParams& made) { return params_of(c, *p, n, made); });
}
