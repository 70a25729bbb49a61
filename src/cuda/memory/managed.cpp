// SPDX-License-Identifier: Apache-2.0
#include "cuda/memory/managed.h"

#include <cuda.h>

#include <algorithm>

#include "cuda/devices.h"
#include "driver/memory/advice.h"

namespace us::cuda {

using driver::Advice;
using driver::Context;
using driver::Error;
using driver::Location;

namespace {

constexpr int kInvalidDevice = CU_DEVICE_INVALID, kCpu = CU_DEVICE_CPU;

// How a location reads as a device number.
int device_number(const std::optional<Location>& p) {
  if (!p) return kInvalidDevice;
  return p->type == CU_MEM_LOCATION_TYPE_DEVICE ? p->id : kCpu;
}

template <class F>
auto common(const std::vector<Advice::Said>& parts, F&& of, decltype(of(parts[0])) otherwise) {
  const auto first = of(parts.front());
  return std::all_of(parts.begin(), parts.end(), [&](const auto& s) { return of(s) == first; }) ? first : otherwise;
}

// The devices that all parts name, then kInvalidDevice.
void accessed_by(const std::vector<Advice::Said>& parts, int* out, u64 count) {
  std::vector<int> all;
  for (const Location& p : parts.front().accessed_by)
    if (std::all_of(parts.begin(), parts.end(), [&](const auto& s) { return s.accessed_by.contains(p); }))
      all.push_back(device_number(p));
  for (u64 i = 0; i < count; ++i) out[i] = i < all.size() ? all[i] : kInvalidDevice;
}

Error put(void* data, u64 size, int value) {
  if (size != sizeof(int)) return Error::InvalidValue;
  *static_cast<int*>(data) = value;
  return Error::Success;
}

}  // namespace

Error check_location(Location p, Location& normal) {
  normal = p;
  switch (p.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (p.id == kCpu) normal = {CU_MEM_LOCATION_TYPE_HOST, 0};
      return p.id == kCpu || is_device(p.id) ? Error::Success : Error::InvalidDevice;
    case CU_MEM_LOCATION_TYPE_HOST:
      normal.id = 0;
      return Error::Success;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return p.id >= 0 ? Error::Success : Error::InvalidValue;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      normal = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
      return Error::Success;
    default:
      return Error::InvalidValue;
  }
}

Error check_managed(Context& c, u64 at, u64 bytes) {
  US_TRY(c.sticky());
  const auto a = c.runtime().registry().find(at);
  if (!a || a->kind != memory::Kind::Managed || at + bytes > a->address + a->bytes) return Error::InvalidValue;
  return Error::Success;
}

Error advise(Context& c, u64 at, u64 bytes, int advice, Location location) {
  if (advice < Advice::SetReadMostly || advice > Advice::UnsetAccessedBy || bytes == 0) return Error::InvalidValue;
  const bool about_place = advice == Advice::SetPreferred || advice >= Advice::SetAccessedBy;
  US_TRY(c.runtime().captures().unsafe());
  US_TRY(check_managed(c, at, bytes));
  if (about_place && failed(check_location(location, location))) return Error::InvalidValue;
  runtime().advice().advise(at, bytes, static_cast<Advice::Kind>(advice), location);
  return Error::Success;
}

Error prefetch(Context& c, driver::Stream& s, u64 at, u64 bytes, Location location) {
  US_TRY(c.not_captured(s));
  if (bytes == 0) return Error::InvalidValue;
  US_TRY(check_managed(c, at, bytes));
  US_TRY(check_location(location, location));
  runtime().advice().prefetched(at, bytes, location);
  return Error::Success;
}

Error range_attribute(Context& c, int attribute, void* data, u64 size, u64 at, u64 bytes) {
  if (!data || bytes == 0) return Error::InvalidValue;
  US_TRY(check_managed(c, at, bytes));
  const auto parts = runtime().advice().said(at, bytes);
  const auto location = [&](bool preferred) {
    return common(parts, [&](const Advice::Said& s) { return preferred ? s.preferred : s.prefetched; }, {});
  };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return put(data, size,
                 common(
                     parts, [](const Advice::Said& s) { return s.read_mostly; }, false));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return put(data, size, device_number(location(true)));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return put(data, size, device_number(location(false)));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return put(data, size, location(true).value_or(Location{}).type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return put(data, size, location(true).value_or(Location{}).id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return put(data, size, location(false).value_or(Location{}).type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return put(data, size, location(false).value_or(Location{}).id);
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      if (size == 0 || size % sizeof(int)) return Error::InvalidValue;
      accessed_by(parts, static_cast<int*>(data), size / sizeof(int));
      return Error::Success;
    default:
      return Error::InvalidValue;
  }
}

}  // namespace us::cuda
