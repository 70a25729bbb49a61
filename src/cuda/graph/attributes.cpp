// SPDX-License-Identifier: Apache-2.0
// Launch attributes of kernel nodes, and batches of memory operations.
#include <algorithm>
#include <cstring>

#include "cuda/code/launch_attributes.h"
#include "cuda/graph/graphs.h"
#include "driver/code/launch.h"
#include "driver/device.h"

namespace us::cuda {

using namespace driver;

namespace {

bool known_to_nodes(int id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return true;
    default:
      return false;
  }
}

Error check_word(u64 at, u64 bytes) {
  const auto a = runtime().registry().find(at);
  const bool fits = a && at + bytes <= a->address + a->bytes;
  return fits && at % bytes == 0 ? Error::Success : Error::InvalidValue;
}

Error mem_op(const CUstreamBatchMemOpParams& p, MemOp& out) {
  const bool wide = p.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || p.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
      const unsigned how = p.waitValue.flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
      if (how > CU_STREAM_WAIT_VALUE_NOR) return Error::InvalidValue;
      out = {MemOp::Wait, wide, p.waitValue.address, wide ? p.waitValue.value64 : p.waitValue.value, how};
      return check_word(out.address, wide ? 8 : 4);
    }
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      if (p.writeValue.flags & ~static_cast<unsigned>(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER))
        return Error::InvalidValue;
      out = {MemOp::Write, wide, p.writeValue.address, wide ? p.writeValue.value64 : p.writeValue.value, 0};
      return check_word(out.address, wide ? 8 : 4);
    case CU_STREAM_MEM_OP_BARRIER:  // every operation is ordered already
      return p.memoryBarrier.flags <= 1 ? Error::Success : Error::InvalidValue;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return Error::NotSupported;
    default:
      return Error::InvalidValue;
  }
}

}  // namespace

Error check_mem_ops(Context& c, u32 count, const CUstreamBatchMemOpParams* list, MemOps& out) {
  if ((!list && count) || count > 256) return Error::InvalidValue;
  US_TRY(out.check(c));
  for (u32 i = 0; i < count; ++i) US_TRY(mem_op(list[i], out.list.emplace_back()));
  const auto* first = reinterpret_cast<const u8*>(list);
  out.given.assign(first, first + count * sizeof *list);
  return Error::Success;
}

Arguments arguments_of(KernelOp& k) {
  if (k.packed) {
    k.pointers = {CU_LAUNCH_PARAM_BUFFER_POINTER, k.block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &k.packed_bytes,
                  CU_LAUNCH_PARAM_END};
    return {nullptr, k.pointers.data()};
  }
  k.pointers.clear();
  for (const auto& p : k.function->ir().params) k.pointers.push_back(k.block.data() + p.offset);
  return {k.pointers.data(), nullptr};
}

namespace {
Error tell_updatable(const KernelOp& k, CUlaunchAttributeValue& v) {
  v.deviceUpdatableKernelNode.deviceUpdatable = k.updatable != nullptr;
  v.deviceUpdatableKernelNode.devNode = reinterpret_cast<CUgraphDeviceNode>(k.updatable.get());
  return Error::Success;
}
}  // namespace

Error get_attribute(const GraphNode& n, int id, CUlaunchAttributeValue& out) {
  const auto* k = n.as<KernelOp>();
  if (!k || !known_to_nodes(id)) return Error::InvalidValue;
  std::memset(&out, 0, sizeof out);
  if (const auto at = k->attributes.find(id); at != k->attributes.end())
    std::memcpy(&out, at->second.data(), at->second.size());
  if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) return tell_updatable(*k, out);
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP && !k->attributes.contains(id)) out.memSyncDomainMap.remote = 1;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) out.priority = k->config.priority;
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && !out.cooperative) out.cooperative = k->config.cooperative;
  return Error::Success;
}

Error set_attribute(GraphNode& n, int id, CUlaunchAttributeValue& given) {
  auto* k = n.as<KernelOp>();
  if (!k) return Error::InvalidValue;
  CUlaunchAttributeValue v = given;
  const DeviceSpec& spec = k->where.context->device().spec();
  if (id == CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING) return Error::Success;  // and not told again
  US_TRY(check_attribute(spec, AttributeOf::Node, id, v));
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      k->config.priority = v.priority;
      k->config.has_priority = true;
      break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      k->config.cooperative = v.cooperative != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      LaunchConfig c = k->config;
      device::Dim3 shape;
      c.cluster = {v.clusterDim.x, v.clusterDim.y, v.clusterDim.z};
      if (!c.cluster.x || !c.cluster.y || !c.cluster.z) return Error::InvalidClusterSize;
      US_TRY(cluster_of(spec, *k->function, c, shape));
      k->config.cluster = c.cluster;
      break;
    }
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (v.deviceUpdatableKernelNode.deviceUpdatable == 0) return k->updatable ? Error::NotSupported : Error::Success;
      if (v.deviceUpdatableKernelNode.deviceUpdatable != 1) return Error::InvalidValue;
      if (!k->updatable) k->updatable = graphs().make_updatable();
      return tell_updatable(*k, given);
    default:
      break;
  }
  std::memcpy(k->attributes[id].data(), &v, sizeof v);
  return Error::Success;
}

}  // namespace us::cuda
