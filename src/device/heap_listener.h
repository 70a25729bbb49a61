// SPDX-License-Identifier: Apache-2.0
// Who hears of each malloc and free of device code. One per process, set before a device is made.
#pragma once
#include <functional>

#include "base/types.h"

namespace us::device {

using HeapListener = std::function<void(u64 address, u64 bytes, bool there)>;
void listen_to_heaps(HeapListener);

}  // namespace us::device
