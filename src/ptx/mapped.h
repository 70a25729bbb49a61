// SPDX-License-Identifier: Apache-2.0
// Images come as bare pointers, and their headers may claim any size. The host's kernel knows what can be read there.
#pragma once
#include <span>

#include "base/types.h"

namespace us::ptx {

// From `p` to where readable memory ends; empty if there is none.
std::span<const u8> mapped_from(const void* p);

}  // namespace us::ptx
