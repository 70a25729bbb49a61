// SPDX-License-Identifier: Apache-2.0
// What a thread may touch, and what is said when it touches something else. As on an H200 (oracle/limits): a block's
// shared memory ends with the last 128 bytes that it has a part of; offsets behind the window are illegal instructions;
// shared and local memory are out of reach for global accesses.
#pragma once
#include "device/schedule/resident.h"

namespace us::device {

struct Refusal {
  Outcome outcome;
  std::string text;
  probe::Refused what;
};

bool in_global(const Warp&, u64 address);
bool in_shared(const Warp&, u32 offset, u64 bytes);  // offset in the cluster's window
bool in_local(const Warp&, u64 offset, u64 bytes);   // offset from the lane's first frame
bool in_params(const Warp&, u64 address);
Refusal refuse_global(const Warp&, u64 address);
Refusal refuse_shared(const Warp&, u32 offset, u64 bytes);
Refusal refuse_local(const Warp&, u64 offset, u64 bytes);
std::string overflow_text(const Warp&);

// Of runtime functions: the lane's access ends the launch if it is refused.
void require_shared(Warp&, u32 offset, u64 bytes, u32 lane);
void require_generic(Warp&, u64 address, u64 bytes, u32 lane);

}  // namespace us::device
