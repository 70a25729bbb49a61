// SPDX-License-Identifier: Apache-2.0
// `understudy profile` in the process of the program: who counts its launches, and the file of what was counted, which
// each process has of its own. Without UNDERSTUDY_PROFILE there is none of it.
#pragma once
#include <string_view>

namespace us::probe {
class Observer;
}

namespace us::cuda {

bool profiling();
probe::Observer* profiler();  // null unless the program is profiled; lives until the process ends
void profile_in_child();      // a child that was forked writes a file of its own
void finish_profile();        // at the end of the process: waits for work that the program left
// A call of the program begins, and ends.
void profile_call(std::string_view function);
void profile_call_ends();

}  // namespace us::cuda
