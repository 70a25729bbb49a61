// SPDX-License-Identifier: Apache-2.0
// Finds launches that can never end.
#pragma once
#include "device/worker.h"

namespace us::device {

// After a pass in which nothing happened. True: a launch was ended.
bool watch(Worker&, const std::vector<Slot*>& resident);

}  // namespace us::device
