// SPDX-License-Identifier: Apache-2.0
// The 16 named barriers of a CTA (PTX bar, barrier.cta).
#pragma once
#include "device/schedule/resident.h"

namespace us::device {

void clear_barriers(Cta&);
// Lanes of the warp have exited (or the whole warp has ended): barriers that wait for all threads may now complete.
void threads_exited(Warp&);
// What a warp at a barrier waits for: "barrier 1: 96 of 128 threads arrived; missing: warp 3".
std::string barrier_state(const Cta&, u32 id);

}  // namespace us::device
