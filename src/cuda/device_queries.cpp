// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_queries.h"

#include <cuda_runtime_api.h>

#include "cuda/devices.h"
#include "cuda/errors.h"
#include "driver/code/function.h"

namespace us::cuda {

using device::DeviceApi;

namespace {

template <class T>
u64 answer(u64 at, const T& value) {
  if (!at) return cudaErrorInvalidValue;
  *reinterpret_cast<T*>(at) = value;
  return cudaSuccess;
}

u64 text(const char* t) { return reinterpret_cast<u64>(t); }

u64 attribute(u64 at, u64 which, u64 ordinal) {
  if (!is_device(static_cast<int>(ordinal))) return cudaErrorInvalidDevice;
  if (!is_attribute(static_cast<int>(which))) return cudaErrorInvalidValue;
  return answer(at, static_cast<int>(attribute_of(static_cast<u32>(ordinal), static_cast<driver::Attribute>(which))));
}

}  // namespace

u64 answer_device_query(DeviceApi api, u32, driver::Function* f, std::span<const u64> w) {
  const ErrorRow* e = find_error(static_cast<int>(w[0]));
  switch (api) {
    case DeviceApi::GetErrorName:
      return text(e && *e->runtime_name ? e->runtime_name : "unrecognized error code");
    case DeviceApi::GetErrorString:
      return text(e && *e->runtime_name ? e->text : "unrecognized error code");
    case DeviceApi::DeviceGetAttribute:
      return attribute(w[0], w[1], w[2]);
    case DeviceApi::RuntimeGetVersion:
      return answer(w[0], static_cast<int>(CUDART_VERSION));
    case DeviceApi::FuncGetAttributes: {
      if (!f) return cudaErrorInvalidDeviceFunction;
      cudaFuncAttributes a;
      describe(*f, a);
      return answer(w[0], a);
    }
    default:
      return cudaErrorNotSupported;
  }
}

void describe(const driver::Function& f, cudaFuncAttributes& a) {
  const auto& i = f.info();
  const driver::Resources& r = f.resources();
  a = {};
  a.sharedSizeBytes = r.shared_static;
  a.constSizeBytes = r.const_bytes;
  a.localSizeBytes = r.local_bytes;
  a.maxThreadsPerBlock = static_cast<int>(r.max_threads_per_block);
  a.numRegs = static_cast<int>(r.registers);
  a.ptxVersion = static_cast<int>(r.ptx_version);
  a.binaryVersion = static_cast<int>(r.binary_version);
  a.maxDynamicSharedSizeBytes = f.max_dynamic_shared;
  a.preferredShmemCarveout = f.carveout;
  a.clusterDimMustBeSet = i.cluster[0] != 0;
  a.requiredClusterWidth = static_cast<int>(i.cluster[0]);
  a.requiredClusterHeight = static_cast<int>(i.cluster[1]);
  a.requiredClusterDepth = static_cast<int>(i.cluster[2]);
  a.clusterSchedulingPolicyPreference = f.cluster_policy;
  a.nonPortableClusterSizeAllowed = f.non_portable_cluster;
}

}  // namespace us::cuda
