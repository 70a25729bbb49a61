// SPDX-License-Identifier: Apache-2.0
#include "cuda/config.h"

#include <cstring>

#include <fmt/format.h>

namespace us::cuda {
namespace {

constexpr int kExitBadSetting = 120;  // docs/cli.md

[[noreturn]] void refuse(const std::vector<Diag>& why) {
  for (const Diag& d : why) fmt::print(stderr, "understudy: {}\n", d.message);
  std::_Exit(kExitBadSetting);
}

std::vector<const driver::Preset*> resolve_devices(std::string_view list) {
  auto found = driver::find_presets(list);
  if (!found) refuse(found.diags());
  return *found;
}

Config read_config() {
  auto settings = read_settings();
  if (!settings) refuse(settings.diags());
  if (settings->verbose)
    for (const std::string& name : unknown_settings(environ)) fmt::print(stderr, "understudy: {} is no setting\n", name);
  auto devices = resolve_devices(settings->device);
  return {*settings, std::move(devices)};
}

}  // namespace

const Config& config() {
  static const Config c = read_config();
  return c;
}

i64 attribute_of(u32 ordinal, driver::Attribute a) {
  const i64 value = (*config().devices[ordinal])[a];
  return a == driver::Attribute::PCI_DEVICE_ID ? value + ordinal : value;
}

void uuid_of(u32 ordinal, u8 out[16]) {
  std::memset(out, 0, 16);
  std::memcpy(out, "understudy", 10);
  const std::string_view id = config().devices[ordinal]->id;
  out[10] = static_cast<u8>(id.back());
  out[11] = static_cast<u8>(id.front());
  out[15] = static_cast<u8>(ordinal);
}

}  // namespace us::cuda
