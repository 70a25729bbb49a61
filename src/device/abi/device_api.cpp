// SPDX-License-Identifier: Apache-2.0
#include "device/abi/device_api.h"

#include <iterator>

namespace us::device {
namespace {

constexpr std::string_view kPrefix = "__cudaCDP2", kGraphPrefix = "cudaGraph", kPerThread = "_ptsz";
constexpr std::string_view kSetConditional = "cudaGraphSetConditional";

struct Row {
  std::string_view name, arguments;
  u32 result;
};
constexpr Row kRows[] = {
#define US_DEVICE_API(id, arguments, result) {#id, arguments, result},
#include "device/abi/device_api.inc"
#undef US_DEVICE_API
};

void add_words(DeviceApiForm& f, u8 argument, u32 count, u8 bytes) {
  for (u32 i = 0; i < count; ++i) f.word[f.words++] = {argument, u8(i * bytes), bytes};
}

DeviceApiForm form_of(u32 row) {
  DeviceApiForm f;
  f.number = row;
  f.result_bytes = kRows[row].result;
  u8 argument = 0;
  for (char c : kRows[row].arguments) {
    const bool three = c == 'd' || c == 'e';
    add_words(f, argument++, three ? 3 : c == 'p' ? 4 : 1, c == '4' || c == 'd' ? 4 : 8);
  }
  return f;
}

}  // namespace

bool launches_grids(std::string_view name) { return name.starts_with(kPrefix); }
bool is_device_api(std::string_view name) {
  return launches_grids(name) || (name.starts_with(kGraphPrefix) && name != kSetConditional);
}
std::string_view device_api_arguments(u32 number) { return kRows[number].arguments; }

bool find_device_api(std::string_view name, DeviceApiForm& out) {
  if (name == kSetConditional) {
    out = {};
    out.number = kDeviceApiSetConditional;
    add_words(out, 0, 1, 8);
    add_words(out, 1, 1, 4);
    return true;
  }
  if (!is_device_api(name)) return false;
  name.remove_prefix(launches_grids(name) ? kPrefix.size() : std::string_view("cuda").size());
  const bool per_thread = name.ends_with(kPerThread);
  if (per_thread) name.remove_suffix(kPerThread.size());
  for (u32 i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].name != name) continue;
    out = form_of(i);
    if (per_thread) out.number |= kDeviceApiPerThread;
    return true;
  }
  return false;
}

}  // namespace us::device
