// SPDX-License-Identifier: Apache-2.0
// Graph Management: kernels, copies and sets, as the runtime API names them. Other nodes: cuda/graph/.
#include <cstring>

#include "cuda/code/functions.h"
#include "cuda/graph/node_calls.h"
#include "cuda/graph/nodes.h"
#include "cuda/libcudart/memory/channels.h"
#include "cuda/libcudart/memory/copies.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/code/function.h"
#include "driver/code/launch.h"

using namespace us::cuda;
using us::u64;
using us::driver::CopyKind;
using us::driver::CopyNames;
using us::driver::CopyOp;
using us::driver::EdgeData;
using us::driver::FillOp;
using us::driver::GraphNode;
using us::driver::KernelOp;
using us::driver::NamedEnd;
using us::driver::NodeParams;
using us::driver::NodeType;

namespace {

struct RuntimeApi {
  template <class F>
  static cudaError_t locked(F&& f) {
    return in_context([&](Context& c) {
      GraphLock lock;
      return f(c);
    });
  }
};
using Nodes = NodeCalls<RuntimeApi>;

us::device::Dim3 dims(const dim3& d) { return {d.x, d.y, d.z}; }

// cudaKernelNodeParams and its second version name their fields alike.
template <class P>
Error kernel_of(Context& c, const P& p, KernelOp& out) {
  us::driver::Function* f = nullptr;
  US_TRY(find_function(c, p.func, f));
  us::driver::LaunchArgs args{.pointers = p.kernelParams};
  US_TRY(read_extra(p.extra, args));
  out = {.function = f,
         .config = {.grid = dims(p.gridDim), .block = dims(p.blockDim), .dynamic_shared = p.sharedMemBytes},
         .arguments = args,
         .handle = p.func};
  return out.check(c);
}

bool is_kind(cudaMemcpyKind k) { return k >= cudaMemcpyHostToHost && k <= cudaMemcpyDefault; }

Error copy_1d(Context& c, void* dst, const void* src, size_t n, cudaMemcpyKind kind, CopyOp& out) {
  if (!is_kind(kind)) return Error::InvalidMemcpyDirection;
  out = {{.dst = address(dst), .src = address(src), .width = n}, static_cast<CopyKind>(kind)};
  return out.check(c);
}

void name_end(const cudaPitchedPtr& p, cudaArray_t array, const cudaPos& at, NamedEnd& out) {
  if (array) out.type = NamedEnd::Array;
  out = {.type = out.type,
         .address = address(p.ptr),
         .array = array,
         .x = at.x,
         .y = at.y,
         .z = at.z,
         .pitch = p.pitch,
         .height = p.ysize};
}

Error copy_3d(Context& c, const cudaMemcpy3DParms* p, CopyOp& out) {
  if (!p) return Error::InvalidValue;
  out = {.kind = static_cast<CopyKind>(p->kind)};
  US_TRY(copy_of(*p, out.given));
  US_TRY(out.check(c));
  CopyNames names = out.shown();
  names.width = p->extent.width;
  name_end(p->dstPtr, p->dstArray, p->dstPos, names.dst);
  name_end(p->srcPtr, p->srcArray, p->srcPos, names.src);
  out.names = names;
  return Error::Success;
}

cudaMemcpy3DParms parms_of(const CopyOp& op) {
  const CopyNames p = op.shown();
  cudaMemcpy3DParms out{};
  const auto pointer = [](const NamedEnd& e) {
    return cudaPitchedPtr{us::cuda::pointer(e.address), e.pitch, 0, e.height};
  };
  const auto array = [](const NamedEnd& e) { return static_cast<cudaArray_t>(const_cast<void*>(e.array)); };
  out.dstArray = array(p.dst);
  out.srcArray = array(p.src);
  out.dstPtr = pointer(p.dst);
  out.srcPtr = pointer(p.src);
  out.dstPos = cudaPos{p.dst.x, p.dst.y, p.dst.z};
  out.srcPos = cudaPos{p.src.x, p.src.y, p.src.z};
  out.extent = cudaExtent{p.width, p.height, p.depth};
  out.kind = static_cast<cudaMemcpyKind>(op.kind);
  return out;
}

Error to_symbol(Context& c, const void* symbol, const void* src, size_t n, size_t offset, cudaMemcpyKind kind,
                CopyOp& out) {
  u64 at = 0;
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return Error::InvalidMemcpyDirection;
  US_TRY(symbol_part(c, symbol, n, offset, at));
  return copy_1d(c, pointer(at), src, n, kind, out);
}
Error from_symbol(Context& c, void* dst, const void* symbol, size_t n, size_t offset, cudaMemcpyKind kind,
                  CopyOp& out) {
  u64 at = 0;
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return Error::InvalidMemcpyDirection;
  US_TRY(symbol_part(c, symbol, n, offset, at));
  return copy_1d(c, dst, pointer(at), n, kind, out);
}

const CUDA_MEMSET_NODE_PARAMS& driver_params(const cudaMemsetParams& p) {
  static_assert(sizeof(cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS));
  return reinterpret_cast<const CUDA_MEMSET_NODE_PARAMS&>(p);
}

Error fill_of(Context& c, const cudaMemsetParams* p, FillOp& out) {
  return p ? fill_params(c, driver_params(*p), out) : Error::InvalidValue;
}

template <class P>
Error replace_kernel(Context& c, cudaGraphNode_t n, const P* given, KernelOp& k) {
  if (!given) return Error::InvalidValue;
  return us::cuda::replace_kernel(n, k, [&](KernelOp& out) { return kernel_of(c, *given, out); });
}

}  // namespace

US_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                          size_t count, const cudaKernelNodeParams* p) {
  return Nodes::add<KernelOp>({out, g, after, nullptr, count}, NodeType::Kernel,
                              [&](Context& c, KernelOp& k) { return p ? kernel_of(c, *p, k) : Error::InvalidValue; });
}
US_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, cudaKernelNodeParams* out) {
  if (!out) return done(Error::InvalidValue);
  return Nodes::get<KernelOp>(n, NodeType::Kernel, [&](KernelOp& k) {
    const auto &g = k.config.grid, &b = k.config.block;
    const Arguments a = arguments_of(k);
    *out = {.func = const_cast<void*>(k.handle),
            .gridDim = dim3(g.x, g.y, g.z),
            .blockDim = dim3(b.x, b.y, b.z),
            .sharedMemBytes = static_cast<unsigned>(k.config.dynamic_shared),
            .kernelParams = a.each,
            .extra = a.extra};
  });
}
US_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const cudaKernelNodeParams* p) {
  return Nodes::set<KernelOp>(n, NodeType::Kernel, [&](Context& c, KernelOp& k) { return replace_kernel(c, n, p, k); });
}
US_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                    const cudaKernelNodeParams* p) {
  return Nodes::set_exec<KernelOp>(x, n, NodeType::Kernel,
                                   [&](Context& c, KernelOp& k) { return replace_kernel(c, n, p, k); });
}
US_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                          size_t count, const cudaMemcpy3DParms* p) {
  return Nodes::add<CopyOp>({out, g, after, nullptr, count}, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return copy_3d(c, p, k); });
}
US_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                            size_t count, void* dst, const void* src, size_t n, cudaMemcpyKind kind) {
  return Nodes::add<CopyOp>({out, g, after, nullptr, count}, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return copy_1d(c, dst, src, n, kind, k); });
}
US_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                                  size_t count, const void* symbol, const void* src, size_t n,
                                                  size_t offset, cudaMemcpyKind kind) {
  return Nodes::add<CopyOp>({out, g, after, nullptr, count}, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return to_symbol(c, symbol, src, n, offset, kind, k); });
}
US_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                                    size_t count, void* dst, const void* symbol, size_t n,
                                                    size_t offset, cudaMemcpyKind kind) {
  return Nodes::add<CopyOp>({out, g, after, nullptr, count}, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return from_symbol(c, dst, symbol, n, offset, kind, k); });
}
US_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t n, cudaMemcpy3DParms* out) {
  if (!out) return done(Error::InvalidValue);
  return Nodes::get<CopyOp>(n, NodeType::Memcpy, [&](const CopyOp& p) { *out = parms_of(p); });
}
US_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t n, const cudaMemcpy3DParms* p) {
  return Nodes::set<CopyOp>(n, NodeType::Memcpy, [&](Context& c, CopyOp& k) { return copy_3d(c, p, k); });
}
US_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t n, void* dst, const void* src, size_t bytes,
                                                  cudaMemcpyKind kind) {
  return Nodes::set<CopyOp>(n, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return copy_1d(c, dst, src, bytes, kind, k); });
}
US_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t n, const void* symbol, const void* src,
                                                        size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Nodes::set<CopyOp>(n, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return to_symbol(c, symbol, src, bytes, offset, kind, k); });
}
US_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t n, void* dst, const void* symbol,
                                                          size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Nodes::set<CopyOp>(n, NodeType::Memcpy,
                            [&](Context& c, CopyOp& k) { return from_symbol(c, dst, symbol, bytes, offset, kind, k); });
}
US_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const cudaMemcpy3DParms* p) {
  return Nodes::set_exec<CopyOp>(x, n, NodeType::Memcpy, [&](Context& c, CopyOp& k) { return copy_3d(c, p, k); });
}
US_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t x, cudaGraphNode_t n, void* dst, const void* src,
                                                      size_t bytes, cudaMemcpyKind kind) {
  return Nodes::set_exec<CopyOp>(x, n, NodeType::Memcpy,
                                 [&](Context& c, CopyOp& k) { return copy_1d(c, dst, src, bytes, kind, k); });
}
US_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t x, cudaGraphNode_t n, const void* symbol,
                                                            const void* src, size_t bytes, size_t offset,
                                                            cudaMemcpyKind kind) {
  return Nodes::set_exec<CopyOp>(
      x, n, NodeType::Memcpy, [&](Context& c, CopyOp& k) { return to_symbol(c, symbol, src, bytes, offset, kind, k); });
}
US_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t x, cudaGraphNode_t n, void* dst,
                                                              const void* symbol, size_t bytes, size_t offset,
                                                              cudaMemcpyKind kind) {
  return Nodes::set_exec<CopyOp>(x, n, NodeType::Memcpy, [&](Context& c, CopyOp& k) {
    return from_symbol(c, dst, symbol, bytes, offset, kind, k);
  });
}

US_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                          size_t count, const cudaMemsetParams* p) {
  return Nodes::add<FillOp>({out, g, after, nullptr, count}, NodeType::Memset,
                            [&](Context& c, FillOp& f) { return fill_of(c, p, f); });
}
US_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t n, cudaMemsetParams* out) {
  if (!out) return done(Error::InvalidValue);
  return Nodes::get<FillOp>(n, NodeType::Memset, [&](const FillOp& f) {
    const CUDA_MEMSET_NODE_PARAMS p = memset_params(f);
    std::memcpy(out, &p, sizeof p);
  });
}
US_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t n, const cudaMemsetParams* p) {
  return Nodes::set<FillOp>(n, NodeType::Memset, [&](Context& c, FillOp& f) { return fill_of(c, p, f); });
}
US_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const cudaMemsetParams* p) {
  return Nodes::set_exec<FillOp>(x, n, NodeType::Memset, [&](Context& c, FillOp& f) { return fill_of(c, p, f); });
}

namespace {

CUgraphNodeParams& driver_params(cudaGraphNodeParams& p) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
  return reinterpret_cast<CUgraphNodeParams&>(p);
}

// Of nodes that can be set; a kernel's attributes are those of `n`, if there is one.
Error params_of(Context& c, cudaGraphNodeParams& p, cudaGraphNode_t n, NodeParams& out) {
  if (p.type == cudaGraphNodeTypeMemcpy) return copy_3d(c, &p.memcpy.copyParams, out.emplace<CopyOp>());
  if (p.type != cudaGraphNodeTypeKernel) return generic_params(c, driver_params(p), out);
  auto& k = out.emplace<KernelOp>();
  return n ? replace_kernel(c, n, &p.kernel, k) : kernel_of(c, p.kernel, k);
}

}  // namespace

US_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* after,
                                    const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* p) {
  if (!p || !well_formed(&driver_params(*p))) return done(Error::InvalidValue);
  const NodePosition place{out, g, after, reinterpret_cast<const EdgeData*>(edges), count};
  if (p->type != cudaGraphNodeTypeKernel && p->type != cudaGraphNodeTypeMemcpy)
    return RuntimeApi::locked([&](Context& c) { return add_generic(c, place, driver_params(*p)); });
  return Nodes::add<NodeParams>(place, static_cast<NodeType>(p->type),
                                [&](Context& c, NodeParams& made) { return params_of(c, *p, nullptr, made); });
}
US_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t n, cudaGraphNodeParams* p) {
  if (!p || !well_formed(&driver_params(*p))) return done(Error::InvalidValue);
  return Nodes::set<NodeParams>(n, static_cast<NodeType>(p->type),
                                [&](Context& c, NodeParams& made) { return params_of(c, *p, n, made); });
}
US_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, cudaGraphNodeParams* p) {
  if (!p || !well_formed(&driver_params(*p))) return done(Error::InvalidValue);
  return Nodes::set_exec<NodeParams>(x, n, static_cast<NodeType>(p->type),
                                     [&](Context& c, NodeParams& made) { return params_of(c, *p, n, made); });
}
