// SPDX-License-Identifier: Apache-2.0
// The vendor's libnvrtc of the same version, which does the compiling. It needs no GPU.
#pragma once

namespace us::nvrtc {

// Its function of that name, or nullptr: the library was not found (said once on stderr) or has no such function.
void* stock_function(const char* name);

}  // namespace us::nvrtc
