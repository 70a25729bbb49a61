// SPDX-License-Identifier: Apache-2.0
// When the driver cannot be used in this process, all entry points answer with one error, apart from the few that need
// no driver. It costs nothing before: the slots that calls go through (call_trace.h) are filled anew.
#pragma once
#include "cuda/entry_table.h"
#include "driver/error.h"

namespace us::cuda {

void refuse_all(driver::Error);
bool refusing();

// A process that may not map enough (`ulimit -v`) gets no devices; told with the first call that is refused.
void refuse_without_room();

// In a child: true if CUDA was initialised before the fork. The threads of the device exist in the parent only.
bool refuse_in_child();
bool in_refused_child();

// What a slot shall hold now.
EntryFn runtime_slot(u32 row);
EntryFn driver_slot(u32 row);

}  // namespace us::cuda
