// SPDX-License-Identifier: Apache-2.0
// From a launch's attributes to what its record tells.
#include <cstring>

#include "driver/code/launch.h"
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/order/stream.h"

namespace us::driver {
namespace {

enum Id : int { kWindow = 1, kClusterPolicy = 5, kPriority = 8, kDomainMap = 9, kDomain = 10, kCarveout = 14 };
constexpr Id kOfStreams[] = {kWindow, kDomainMap, kDomain};

template <class T>
T read(const AttributeBytes& v) {
  T t;
  std::memcpy(&t, v.data(), sizeof t);
  return t;
}

struct AccessWindow {  // laid out as CUaccessPolicyWindow
  u64 address, bytes;
  float hit_ratio;
  u32 hit, miss;
};

}  // namespace

bool AttributeSource::find(int id, AttributeBytes& out) const {
  if (const auto at = own->find(id); at != own->end()) {
    out = at->second;
    return true;
  }
  return stream && stream->get_attribute(id, out.data(), out.size());
}

void keep_stream_attributes(const Stream& s, std::map<int, AttributeBytes>& node) {
  AttributeBytes v{};
  for (const Id id : kOfStreams)
    if (!node.contains(id) && s.get_attribute(id, v.data(), v.size())) node[id] = v;
}

device::LaunchRecord record_of(const Function& f, const LaunchConfig& c, const AttributeSource& from) {
  device::LaunchRecord r;
  AttributeBytes v{};
  u8 map[2] = {0, 1};  // logical default and remote, to physical
  if (from.find(kDomainMap, v)) std::memcpy(map, v.data(), sizeof map);
  r.domain = map[from.find(kDomain, v) ? read<u32>(v) & 1 : 0];
  r.priority = c.priority;
  r.serialization = c.programmatic_serialization;
  r.cluster_policy = static_cast<u32>(f.cluster_policy.load());
  if (from.find(kClusterPolicy, v)) r.cluster_policy = read<u32>(v);
  if (from.find(kWindow, v)) {
    const auto w = read<AccessWindow>(v);
    r.window = {w.address, w.bytes, w.hit_ratio, w.hit, w.miss};
  }
  BlockNeeds needs = needs_at_hand(f, c.block.x * c.block.y * c.block.z, c.dynamic_shared);
  if (from.find(kCarveout, v)) needs.carveout = static_cast<int>(read<u32>(v));
  r.shared_kb = static_cast<u32>(shared_per_sm(f.module().context().device().spec(), needs) >> 10);
  return r;
}

}  // namespace us::driver
