// SPDX-License-Identifier: Apache-2.0
#include "device/schedule/outside.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "device/schedule/machine.h"

namespace us::device {
namespace {

// A name that no thread inherits.
std::string name_of(const std::string& thread) { return "us-" + thread; }

// Of the program; -1: not known.
i64 foreign_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/task", error);
  if (error) return -1;
  i64 n = 0;
  for (const auto& task : all) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    n += name != name_of(task.path().filename());
  }
  return n;
}

// Memory that other processes may have, too: a mapping that is shared and can be written.
bool shares_memory() {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return true;
  for (std::string range, rights, rest; maps >> range >> rights && std::getline(maps, rest);)
    if (rights.size() > 3 && rights[1] == 'w' && rights[3] == 's') return true;
  return false;
}

}  // namespace

void name_thread() { prctl(PR_SET_NAME, name_of(fmt::format("{}", gettid())).c_str()); }

bool can_answer(Machine& m) {
  const HostActivity& host = m.clock.host;
  const i32 waiting = host.waiting.load();
  if (waiting == 0 || host.working.load() != 0) return true;
  return foreign_threads() != waiting || shares_memory();
}

}  // namespace us::device
