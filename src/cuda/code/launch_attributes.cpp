// SPDX-License-Identifier: Apache-2.0
#include "cuda/code/launch_attributes.h"

#include <algorithm>
#include <cstring>

#include "cuda/code/functions.h"
#include "cuda/graph/graphs.h"
#include "cuda/state.h"
#include "driver/device.h"

namespace us::cuda {

using namespace driver;

namespace {

constexpr u8 kDomains = 4;             // CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT of this model
constexpr u64 kMaxWindow = 128 << 20;  // CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE of this model

Error good(bool condition) { return condition ? Error::Success : Error::InvalidValue; }

bool taken(AttributeOf of, int id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return true;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return of == AttributeOf::Stream;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return of != AttributeOf::Stream;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return of == AttributeOf::Launch;
    default:
      return false;
  }
}

Error check_window(const CUaccessPolicyWindow& w) {
  const bool ratio = w.hitRatio >= 0 && w.hitRatio <= 1;
  return good(ratio && w.missProp != CU_ACCESS_PROPERTY_PERSISTING && w.num_bytes <= kMaxWindow);
}

}  // namespace

Error check_attribute(const DeviceSpec& d, AttributeOf of, int id, CUlaunchAttributeValue& v) {
  if (!taken(of, id)) return Error::InvalidValue;
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return check_window(v.accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return good(v.syncPolicy >= CU_SYNC_POLICY_AUTO && v.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return good(of == AttributeOf::Node ||
                  static_cast<u32>(v.clusterSchedulingPolicyPreference) <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      v.priority = std::clamp(v.priority, d.stream_priority_greatest, d.stream_priority_least);
      return Error::Success;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return good(v.memSyncDomainMap.default_ < kDomains && v.memSyncDomainMap.remote < kDomains);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return good(static_cast<u32>(v.memSyncDomain) <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return good(v.sharedMemCarveout <= 100);
    default:
      return Error::Success;
  }
}

Error set_attribute(Stream& s, int id, const void* value) {
  CUlaunchAttributeValue v;
  std::memcpy(&v, value, sizeof v);
  US_TRY(check_attribute(s.context().device().spec(), AttributeOf::Stream, id, v));
  s.set_attribute(id, &v, sizeof v);
  return Error::Success;
}

Error get_attribute(Stream& s, int id, void* value) {
  if (!taken(AttributeOf::Stream, id)) return Error::InvalidValue;
  CUlaunchAttributeValue v{};
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) v.syncPolicy = static_cast<CUsynchronizationPolicy>(-1);
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) v.memSyncDomainMap.remote = 1;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) v.priority = s.priority();
  s.get_attribute(id, &v, sizeof v);
  std::memcpy(value, &v, sizeof v);
  return Error::Success;
}

Error check_events(const std::vector<LaunchEvent>& events, const void* stream, Events& begun) {
  for (const LaunchEvent& e : events) {
    std::shared_ptr<Event> event;
    StreamRef s;
    US_TRY(find_event(e.event, event));
    US_TRY(find_stream(event->context(), stream, s));
    if (event->timing()) return Error::NotSupported;
    const GraphLock lock;
    if (e.external && !s.stream->capture.capture) return Error::IllegalState;
    if (e.at_begin()) begun.push_back(std::move(event));
  }
  return Error::Success;
}

// Programmatic events outside captures are recorded at the grid's end, as an H100 was seen to do.
Error record_events(const std::vector<LaunchEvent>& events, const void* stream) {
  for (const LaunchEvent& e : events) {
    std::shared_ptr<Event> event;
    StreamRef s;
    US_TRY(find_event(e.event, event));
    US_TRY(find_stream(event->context(), stream, s));
    {
      const GraphLock lock;
      if (e.at_begin() && !s.stream->capture.capture) continue;
    }
    US_TRY(s.context().record(*event, *s, e.external));
    if (!e.external) runtime().captures().set_edges(*event, e.edge);
  }
  return Error::Success;
}

}  // namespace us::cuda
