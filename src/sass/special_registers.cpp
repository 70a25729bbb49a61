// SPDX-License-Identifier: Apache-2.0
#include "sass/special_registers.h"

#include <array>

namespace us::sass {
namespace {

std::array<const char*, 256> make_names() {
  std::array<const char*, 256> names{};
#define US_SASS_SREG(number, name) names[number] = name;
#include "sass/special_registers.inc"
#undef US_SASS_SREG
  return names;
}

}  // namespace

std::string special_register(u32 number, bool* unknown) {
  static const auto names = make_names();
  if (number < names.size() && names[number]) return names[number];
  if (number >= names.size()) *unknown = true;
  return "SR" + std::to_string(number);
}

}  // namespace us::sass
