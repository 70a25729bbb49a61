// SPDX-License-Identifier: Apache-2.0
#include "cuda/functions.h"

#include <cuda.h>

#include "cuda/registration.h"

namespace us::cuda {
using driver::Error;

Error find_kernel(const void* symbol, driver::Kernel*& out) {
  if (!symbol) return Error::InvalidDeviceFunction;
  out = registration().kernel(symbol);
  if (!out) out = runtime().find_kernel(symbol);
  return out ? Error::Success : Error::InvalidDeviceFunction;
}

Error find_function(driver::Context& c, const void* symbol, driver::Function*& out) {
  driver::Kernel* k = nullptr;
  if (const Error e = find_kernel(symbol, k); driver::failed(e)) {
    out = c.find_function(symbol);
    return out ? Error::Success : e;
  }
  const Error e = c.function_of(*k, out);
  return e == Error::NotFound ? Error::InvalidDeviceFunction : e;
}

Error read_attributes(const void* attributes, u32 count, driver::LaunchConfig& config, std::vector<const void*>& events_after) {
  const auto* attribute = static_cast<const CUlaunchAttribute*>(attributes);
  for (u32 i = 0; i < count; ++i) {
    const CUlaunchAttributeValue& v = attribute[i].value;
    switch (attribute[i].id) {
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        config.cluster = {v.clusterDim.x, v.clusterDim.y, v.clusterDim.z};
        break;
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: config.cooperative = v.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        config.priority = v.priority;
        config.has_priority = true;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: config.cluster_policy = v.clusterSchedulingPolicyPreference; break;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: config.mem_sync_domain = v.memSyncDomain; break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        config.programmatic_serialization = v.programmaticStreamSerializationAllowed != 0;
        break;
      // Recorded when the grid has completed: later than a trigger inside it, never earlier than allowed.
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: events_after.push_back(v.programmaticEvent.event); break;
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: events_after.push_back(v.launchCompletionEvent.event); break;
      // Wishes about speed.
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: break;
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return Error::NotSupported;
      default: return Error::InvalidValue;
    }
  }
  return Error::Success;
}

}  // namespace us::cuda
