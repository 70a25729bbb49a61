// SPDX-License-Identifier: Apache-2.0
#include "cuda/code/functions.h"

#include <cuda.h>

#include <algorithm>

#include "cuda/code/registration.h"
#include "driver/code/function.h"
#include "driver/code/launch.h"
#include "driver/code/library.h"
#include "driver/code/occupancy.h"
#include "ptx/fatbin.h"

namespace us::cuda {
using driver::EdgeData;
using driver::Error;

Error find_kernel(const void* symbol, driver::Kernel*& out) {
  if (!symbol) return Error::InvalidDeviceFunction;
  out = registration().kernel(symbol);
  if (!out) out = runtime().find_kernel(symbol);
  return out ? Error::Success : Error::InvalidHandle;
}

Error load_library(const void* image, driver::Library*& out) {
  auto library = std::make_unique<driver::Library>(runtime(), image, "library");
  const ir::Module* ir = nullptr;
  // A driver looks into a library when somebody asks for what is in it; only a fat binary must be whole.
  if (const Error e = library->module(ir); driver::failed(e)) {
    runtime().report(library->log());
    if (e == Error::InvalidImage && ptx::container_of(image) == ptx::Container::FatBinary) return e;
  }
  out = &runtime().add_library(std::move(library));
  return Error::Success;
}

Error find_function(driver::Context& c, const void* symbol, driver::Function*& out) {
  driver::Kernel* k = nullptr;
  if (const Error e = find_kernel(symbol, k); driver::failed(e)) {
    out = c.modules().find_function(symbol);
    return out ? Error::Success : e;
  }
  const Error e = c.modules().function_of(*k, out);
  return e == Error::NotFound ? Error::InvalidDeviceFunction : e;
}

Error find_loaded(driver::Context& c, const void* handle, driver::Function*& out) {
  out = c.modules().find_function(handle);
  if (out) return Error::Success;
  driver::Kernel* k = runtime().find_kernel(handle);
  return k ? c.modules().function_of(*k, out) : Error::InvalidHandle;
}

Error set_attribute(driver::Context& c, driver::Function& f, int attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return f.set_max_dynamic_shared(value, c.device().spec());
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return Error::InvalidValue;
      f.carveout = value;
      return Error::Success;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      f.non_portable_cluster = value != 0;
      return Error::Success;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < 0 || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING) return Error::InvalidValue;
      f.cluster_policy = value;
      return Error::Success;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return f.set_required_cluster(0, value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return f.set_required_cluster(1, value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return f.set_required_cluster(2, value);
    default:
      return Error::InvalidValue;
  }
}

Error get_attribute(const driver::Function& f, int attribute, int& value) {
  const driver::FunctionInfo& i = f.info();
  const auto is = [&](auto v) {
    value = static_cast<int>(v);
    return Error::Success;
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return is(f.resources().max_threads_per_block);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return is(f.resources().shared_static);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return is(f.resources().const_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return is(f.resources().local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return is(f.resources().registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return is(f.resources().ptx_version);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return is(f.resources().binary_version);
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return is(0);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      f.resources();  // which it follows from, unless the program has set it
      return is(f.max_dynamic_shared.load());
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return is(f.carveout.load());
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return is(i.cluster[0] != 0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return is(i.cluster[0] ? i.cluster[0] : f.required_cluster[0].load());
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return is(i.cluster[0] ? i.cluster[1] : f.required_cluster[1].load());
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return is(i.cluster[0] ? i.cluster[2] : f.required_cluster[2].load());
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return is(f.non_portable_cluster.load());
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return is(f.cluster_policy.load());
    default:
      return Error::InvalidValue;
  }
}

Error read_extra(void* const* extra, driver::LaunchArgs& args) {
  const bool pointers = args.pointers != nullptr;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      args.block = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      args.block_bytes = *static_cast<size_t*>(extra[1]);
    else
      return Error::InvalidValue;
  }
  return args.block && pointers ? Error::InvalidValue : Error::Success;
}

Error count_clusters(driver::Context& c, const driver::Function& f, driver::LaunchConfig config, const void* attributes,
                     u32 count, u32& out) {
  std::vector<LaunchEvent> events;
  device::Dim3 cluster;
  US_TRY(read_attributes(attributes, count, config, events));
  US_TRY(cluster_of(c.device().spec(), f, config, cluster));
  const u32 threads = config.block.x * config.block.y * config.block.z;
  out = clusters_per_device(c.device().spec(), driver::needs_of(f, threads, config.dynamic_shared),
                            cluster.x * cluster.y * cluster.z);
  return Error::Success;
}

namespace {

Error read_attribute(CUlaunchAttribute& a, driver::LaunchConfig& config, std::vector<LaunchEvent>& events) {
  CUlaunchAttributeValue& v = a.value;
  switch (a.id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      config.cluster = {v.clusterDim.x, v.clusterDim.y, v.clusterDim.z};
      return config.cluster.x && config.cluster.y && config.cluster.z ? Error::Success : Error::InvalidClusterSize;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      config.cooperative = v.cooperative != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      config.priority = v.priority;
      config.has_priority = true;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      config.programmatic_serialization = v.programmaticStreamSerializationAllowed != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: {
      const u8 port = v.programmaticEvent.triggerAtBlockStart ? EdgeData::kLaunchCompletion : EdgeData::kProgrammatic;
      events.push_back({v.programmaticEvent.event,
                        v.programmaticEvent.flags == CU_EVENT_RECORD_EXTERNAL,
                        {.from_port = port, .type = EdgeData::kProgrammaticType}});
      break;
    }
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      events.push_back({v.launchCompletionEvent.event,
                        v.launchCompletionEvent.flags == CU_EVENT_RECORD_EXTERNAL,
                        {.from_port = EdgeData::kLaunchCompletion}});
      break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: {
      auto& u = v.deviceUpdatableKernelNode;
      if (u.deviceUpdatable == 1) config.updatable_out = reinterpret_cast<u64*>(&u.devNode);
      return u.deviceUpdatable == 1 || (u.deviceUpdatable == 0 && !u.devNode) ? Error::Success : Error::InvalidValue;
    }
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      config.preferred_cluster = {v.clusterDim.x, v.clusterDim.y, v.clusterDim.z};
      return config.preferred_cluster.x && config.preferred_cluster.y && config.preferred_cluster.z
                 ? Error::Success
                 : Error::InvalidClusterSize;
    default:
      break;
  }
  return Error::Success;
}

}  // namespace

Error read_attributes(const void* attributes, u32 count, driver::LaunchConfig& config,
                      std::vector<LaunchEvent>& events) {
  // A handle is told in the attribute itself; a clamped value is not.
  auto* list = static_cast<CUlaunchAttribute*>(const_cast<void*>(attributes));
  static_assert(sizeof *list == sizeof(driver::LaunchAttribute));
  config.attributes = static_cast<const driver::LaunchAttribute*>(attributes);
  config.attribute_count = count;
  for (u32 i = 0; i < count; ++i) {
    CUlaunchAttributeValue v = list[i].value;
    US_TRY(check_attribute(runtime().device(0).spec(), AttributeOf::Launch, list[i].id, v));
    US_TRY(read_attribute(list[i], config, events));
    if (list[i].id == CU_LAUNCH_ATTRIBUTE_PRIORITY) config.priority = v.priority;
  }
  return Error::Success;
}

}  // namespace us::cuda
