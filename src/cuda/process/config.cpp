// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/config.h"

#include <unistd.h>

#include <fmt/format.h>

namespace us::cuda {
namespace {

constexpr int kExitBadSetting = 125;  // docs/cli.md

[[noreturn]] void refuse(const std::vector<Diag>& why) {
  for (const Diag& d : why) fmt::print(stderr, "understudy: {}\n", d.message);
  std::_Exit(kExitBadSetting);
}

std::vector<const driver::Preset*> resolve_devices(std::string_view list, u32 count) {
  auto found = driver::find_presets(list, count);
  if (!found) refuse(found.diags());
  return *found;
}

Config read_config() {
  auto settings = read_settings();
  if (!settings) refuse(settings.diags());
  if (settings->verbose)
    for (const std::string& name : unknown_settings(environ))
      fmt::print(stderr, "understudy: {} is no setting\n", name);
  if (auto why = cannot_write(*settings); !why.empty()) refuse(why);
  auto devices = resolve_devices(settings->device, settings->devices);
  return {*settings, std::move(devices)};
}

}  // namespace

const Config& config() {
  static const Config* const c = new Config(read_config());  // outlives every destructor: the report at exit reads it
  return *c;
}

}  // namespace us::cuda
