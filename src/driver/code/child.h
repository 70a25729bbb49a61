// SPDX-License-Identifier: Apache-2.0
// Runs a program beside the guest without the guest's noticing: no signal, nothing to wait for, nothing written.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"

namespace us::driver {

struct TimeLimit {
  u32 processor_seconds, seconds;
};
enum class ChildEnd : u8 { Good, Failed, TimeOut };  // exit code 0; another, a signal or the processor time; the clock

ChildEnd run_child(const std::vector<std::string>& command, const TimeLimit&);

}  // namespace us::driver
