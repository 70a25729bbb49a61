// SPDX-License-Identifier: Apache-2.0
// `understudy check` in the process of the program: who listens to it, and the file of what is found, which each
// process has of its own. Without UNDERSTUDY_CHECK there is none of it.
#pragma once
#include <string_view>

#include "base/types.h"

namespace us::probe {
class Observer;
}

namespace us::cuda {

bool checking();
probe::Observer* checker();  // null unless the program is checked; lives until the process ends
void check_in_child();       // a child that was forked writes a file of its own
void finish_check();         // at the end of the process

// Of the thread that calls, around an API function that the program called and all that is done for it.
void check_call_begins();
void check_call_ends();
// Of the thread that calls: an API function that the program called has returned.
void check_call(std::string_view name, int result, u64 first_argument);

}  // namespace us::cuda
