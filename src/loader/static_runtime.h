// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime that was linked statically into a program or library.
#pragma once
#include <link.h>

namespace us::loader {

// If the object, which was just loaded and not yet relocated, holds one and kept its symbol table: its functions jump
// to ours from now on. What has no symbol table is left as it is; libcuda.so.1 names it when it is called.
void send_static_runtime_to_ours(const link_map& object);

}  // namespace us::loader
