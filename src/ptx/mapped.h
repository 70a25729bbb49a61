// SPDX-License-Identifier: Apache-2.0
// Images come as bare pointers, and their headers may claim any size. What can be read there at all is known to the kernel.
#pragma once
#include <span>

#include "base/types.h"

namespace us::ptx {

// From `p` to where readable memory ends; empty if there is none.
std::span<const u8> mapped_from(const void* p);

}  // namespace us::ptx
