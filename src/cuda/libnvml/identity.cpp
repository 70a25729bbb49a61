// SPDX-License-Identifier: Apache-2.0
// Device Queries: which devices there are, and what they are called.
#include <cstring>

#include <fmt/format.h>

#include "cuda/libnvml/library.h"

using namespace us;
using namespace us::nvml;
using driver::Attribute;

namespace {

struct Place {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  u32 domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct PlaceExt {  // nvmlPciInfoExt_v1_t
  u32 version, domain, bus, device, device_id, subsystem_id, base_class, sub_class;
  char bus_id[32];
};
static_assert(sizeof(Place) == 68 && sizeof(PlaceExt) == 64);
constexpr u32 kDisplayController = 3, k3dController = 2;  // PCI class 03, subclass 02

Place place_of(const Handle* d) {
  Place p = {};
  p.domain = static_cast<u32>(fact(d, Attribute::PCI_DOMAIN_ID));
  p.bus = static_cast<u32>(fact(d, Attribute::PCI_BUS_ID));
  p.device = static_cast<u32>(fact(d, Attribute::PCI_DEVICE_ID));
  p.device_id = static_cast<u32>(fact(d, Attribute::GPU_PCI_DEVICE_ID));
  p.subsystem_id = static_cast<u32>(fact(d, Attribute::GPU_PCI_SUBSYSTEM_ID));
  put(fmt::format("{:04X}:{:02X}:{:02X}.0", p.domain, p.bus, p.device), p.bus_id_legacy, sizeof p.bus_id_legacy);
  put(fmt::format("{:08X}:{:02X}:{:02X}.0", p.domain, p.bus, p.device), p.bus_id, sizeof p.bus_id);
  return p;
}

std::string uuid_text(u32 ordinal) {
  u8 b[16];
  cuda::uuid_of(ordinal, b);
  std::string text = "GPU-";
  for (u32 i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", b[i]);
  }
  return text;
}

}  // namespace

US_NVML nvmlDeviceGetCount_v2(unsigned* count) {
  if (const Answer e = check(count)) return e;
  *count = cuda::device_count();
  return Success;
}
US_NVML nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

US_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle** out) {
  if (const Answer e = check(out)) return e;
  if (index >= cuda::device_count()) return InvalidArgument;
  *out = handle_of(index);
  return Success;
}
US_NVML nvmlDeviceGetHandleByIndex(unsigned index, Handle** out) { return nvmlDeviceGetHandleByIndex_v2(index, out); }

US_NVML nvmlDeviceGetHandleByPciBusId_v2(const char* text, Handle** out) {
  if (const Answer e = check(text, out)) return e;
  const int ordinal = cuda::device_by_pci_bus_id(text);
  if (ordinal < 0) return NotFound;
  *out = handle_of(static_cast<u32>(ordinal));
  return Success;
}
US_NVML nvmlDeviceGetHandleByPciBusId(const char* text, Handle** out) {
  return nvmlDeviceGetHandleByPciBusId_v2(text, out);
}

US_NVML nvmlDeviceGetHandleByUUID(const char* text, Handle** out) {
  if (const Answer e = check(text, out)) return e;
  for (u32 i = 0; i < cuda::device_count(); ++i)
    if (uuid_text(i) == text) return *out = handle_of(i), Success;
  return NotFound;
}

US_NVML nvmlDeviceGetIndex(Handle* d, unsigned* index) {
  if (const Answer e = check_device(d, index)) return e;
  *index = d->ordinal;
  return Success;
}
US_NVML nvmlDeviceGetMinorNumber(Handle* d, unsigned* number) { return nvmlDeviceGetIndex(d, number); }

US_NVML nvmlDeviceGetName(Handle* d, char* out, unsigned size) {
  if (const Answer e = check_device(d, out)) return e;
  return put(cuda::preset_of(d->ordinal).name, out, size);
}

US_NVML nvmlDeviceGetUUID(Handle* d, char* out, unsigned size) {
  if (const Answer e = check_device(d, out)) return e;
  return put(uuid_text(d->ordinal), out, size);
}

US_NVML nvmlDeviceGetPciInfo_v3(Handle* d, Place* out) {
  if (const Answer e = check_device(d, out)) return e;
  *out = place_of(d);
  return Success;
}
// Older forms end earlier: without the long text, and without the subsystem.
US_NVML nvmlDeviceGetPciInfo_v2(Handle* d, Place* out) {
  if (const Answer e = check_device(d, out)) return e;
  const Place p = place_of(d);
  std::memcpy(out, &p, offsetof(Place, bus_id));
  return Success;
}
US_NVML nvmlDeviceGetPciInfo(Handle* d, Place* out) {
  if (const Answer e = check_device(d, out)) return e;
  const Place p = place_of(d);
  std::memcpy(out, &p, offsetof(Place, subsystem_id));
  return Success;
}

US_NVML nvmlDeviceGetPciInfoExt(Handle* d, PlaceExt* out) {
  if (const Answer e = check_device(d, out)) return e;
  if (out->version != version_of<PlaceExt>(1)) return ArgumentVersionMismatch;
  const Place p = place_of(d);
  *out = {out->version, p.domain, p.bus, p.device, p.device_id, p.subsystem_id, kDisplayController, k3dController, {}};
  return put(p.bus_id, out->bus_id, sizeof out->bus_id);
}

US_NVML nvmlDeviceGetBrand(Handle* d, int* brand) {
  if (const Answer e = check_device(d, brand)) return e;
  constexpr int kGeForce = 5, kNvidia = 14;
  *brand = cuda::preset_of(d->ordinal).name.find("GeForce") != std::string_view::npos ? kGeForce : kNvidia;
  return Success;
}

US_NVML nvmlDeviceOnSameBoard(Handle* a, Handle* b, int* same) {
  if (const Answer e = check_device(a, same)) return e;
  if (!is_handle(b)) return InvalidArgument;
  *same = a == b;
  return Success;
}
