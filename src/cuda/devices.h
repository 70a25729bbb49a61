// SPDX-License-Identifier: Apache-2.0
// The virtual devices of this process, as both APIs report them. Needs no context.
#pragma once
#include "driver/preset.h"

namespace us::cuda {

inline constexpr int kVersion = 13000;

u32 device_count();
bool is_device(int ordinal);
bool is_attribute(int number);
const driver::Preset& preset_of(u32 ordinal);

// A fact of device `ordinal`, with what differs between several virtual devices of one preset (the PCI device id).
i64 attribute_of(u32 ordinal, driver::Attribute);
void uuid_of(u32 ordinal, u8 out[16]);
bool pci_bus_id(u32 ordinal, char* out, u32 size);  // "0000:00:06.0"; false: too small
int device_by_pci_bus_id(const char* text);         // -1: none; accepts [domain:]bus:device[.function]

// Whether cuInit (or a runtime call that implies it) has happened in this process.
void initialize();
bool initialized();
// Any runtime call but those about errors implies it. A child that is forked later is told the difference
// (refusal.cpp).
void initialize_runtime();
bool runtime_initialized();

}  // namespace us::cuda
