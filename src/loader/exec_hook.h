// SPDX-License-Identifier: Apache-2.0
// Programs that a run starts: the CUDA toolkit's makers of machine code become our stand-ins (tools/standins).
#pragma once
#include <link.h>

namespace us::loader {

// If the object, which was just loaded, is the program's C library: its execve, through which everything else starts
// programs, looks at what is started from now on.
void watch_exec(const link_map& object, Lmid_t space);

}  // namespace us::loader
