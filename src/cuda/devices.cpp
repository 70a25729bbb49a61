// SPDX-License-Identifier: Apache-2.0
#include "cuda/devices.h"

#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "cuda/process/config.h"
#include "driver/preset.h"

namespace us::cuda {

using driver::Attribute;

namespace {
std::atomic<bool> is_initialized = false, is_runtime_initialized = false;
}

void initialize() { is_initialized = true; }
bool initialized() { return is_initialized; }
void initialize_runtime() {
  initialize();
  is_runtime_initialized = true;
}
bool runtime_initialized() { return is_runtime_initialized; }

u32 device_count() { return static_cast<u32>(config().devices.size()); }
bool is_device(int ordinal) { return ordinal >= 0 && static_cast<u32>(ordinal) < device_count(); }
bool is_attribute(int number) { return number > 0 && static_cast<u32>(number) < driver::kAttributeEnd; }
const driver::Preset& preset_of(u32 ordinal) { return *config().devices[ordinal]; }

i64 attribute_of(u32 ordinal, Attribute a) {
  const i64 value = preset_of(ordinal)[a];
  return a == Attribute::PCI_DEVICE_ID ? value + ordinal : value;
}

void uuid_of(u32 ordinal, u8 out[16]) {
  std::memset(out, 0, 16);
  std::memcpy(out, "understudy", 10);
  const std::string_view id = preset_of(ordinal).id;
  out[10] = static_cast<u8>(id.front());
  out[11] = static_cast<u8>(id.back());
  out[15] = static_cast<u8>(ordinal);
}

bool pci_bus_id(u32 ordinal, char* out, u32 size) {
  const std::string text =
      fmt::format("{:04X}:{:02X}:{:02X}.0", attribute_of(ordinal, Attribute::PCI_DOMAIN_ID),
                  attribute_of(ordinal, Attribute::PCI_BUS_ID), attribute_of(ordinal, Attribute::PCI_DEVICE_ID));
  if (size <= text.size()) return false;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return true;
}

int device_by_pci_bus_id(const char* text) {
  unsigned domain = 0, bus = 0, device = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &device) != 3) {
    domain = 0;
    if (std::sscanf(text, "%x:%x", &bus, &device) != 2) return -1;
  }
  for (u32 i = 0; i < device_count(); ++i)
    if (attribute_of(i, Attribute::PCI_DOMAIN_ID) == domain && attribute_of(i, Attribute::PCI_BUS_ID) == bus &&
        attribute_of(i, Attribute::PCI_DEVICE_ID) == device)
      return static_cast<int>(i);
  return -1;
}

}  // namespace us::cuda
