// SPDX-License-Identifier: Apache-2.0
// A device as data: every CUdevice_attribute and some more facts, each with its origin. Tables in presets/*.inc.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "base/types.h"
#include "driver/device_spec.h"

namespace us::driver {

enum class Attribute : u16 {
#define US_ATTRIBUTE(number, name) name = number,
#include "driver/presets/attributes.inc"
#undef US_ATTRIBUTE
};
inline constexpr u32 kAttributeEnd = 148;  // numbers 1..147

enum class Quantity : u16 {
#define US_QUANTITY_ROW(name, unit) name,
#include "driver/presets/quantities.inc"
#undef US_QUANTITY_ROW
  Count
};

enum class Origin : u8 {
  None,
  Measured,    // reported by the real device
  Documented,  // data sheet or programming guide
  Estimated,   // computed from documented facts
  Assumed,     // not published: as measured on the H200
};

struct Fact {
  i64 value = 0;
  Origin origin = Origin::None;
};

class Preset {
 public:
  std::string_view id;    // "h200"
  std::string_view name;  // "NVIDIA H200"
  std::vector<u32> carveouts_kb;

  const Fact& fact(Attribute a) const { return attributes_[static_cast<u32>(a)]; }
  const Fact& fact(Quantity q) const { return quantities_[static_cast<u32>(q)]; }
  i64 operator[](Attribute a) const { return fact(a).value; }
  i64 operator[](Quantity q) const { return fact(q).value; }

  Fact& set(Attribute a) { return attributes_[static_cast<u32>(a)]; }
  Fact& set(Quantity q) { return quantities_[static_cast<u32>(q)]; }
  void assume(const Preset& other);  // fills what is missing

 private:
  std::array<Fact, kAttributeEnd> attributes_{};
  std::array<Fact, static_cast<u32>(Quantity::Count)> quantities_{};
};

std::span<const Preset> presets();               // the first one is the default
const Preset* find_preset(std::string_view id);  // case does not matter; nullptr if unknown
inline constexpr u32 kMostDevices = 16;
// "h200,h200,a100"; with a count, that many devices: the list over and over, or its start.
Result<std::vector<const Preset*>> find_presets(std::string_view list, u32 count = 0);

DeviceSpec spec_of(const Preset&);

struct AttributeRow {
  Attribute attribute;
  const char* name;
};
struct QuantityRow {
  Quantity quantity;
  const char* name;
  const char* unit;
};
std::span<const AttributeRow> attribute_rows();
std::span<const QuantityRow> quantity_rows();
const char* to_text(Origin);

}  // namespace us::driver
