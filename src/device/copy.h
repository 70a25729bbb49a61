// SPDX-License-Identifier: Apache-2.0
// The copy engine: every asynchronous copy is a Transfer. When it is delivered is a policy; so far there is one, eager: at
// issue, which is legal because a copy runs as if by another thread. Other policies will queue Transfers in Slot (see
// Slot::in_flight) and deliver them from the scheduler.
#pragma once
#include <cstring>

#include "base/types.h"

namespace us::device {

struct Transfer {
  enum class Completion : u8 { ThreadGroup, Mbarrier };
  u8* dst = nullptr;
  const u8* src = nullptr;
  u32 bytes = 0;      // written at dst
  u32 src_bytes = 0;  // read at src; the rest is filled with zeros
  Completion completion = Completion::ThreadGroup;
  u32 mbarrier = 0;  // offset in the window; Completion::Mbarrier: gets complete_tx of `bytes`
};

inline void deliver(const Transfer& t) {
  u8 data[16] = {};
  if (t.bytes <= sizeof data) {
    if (t.src_bytes == 16)
      std::memcpy(data, t.src, 16);
    else if (t.src_bytes == 8)
      std::memcpy(data, t.src, 8);
    else if (t.src_bytes == 4)
      std::memcpy(data, t.src, 4);
    else
      std::memcpy(data, t.src, t.src_bytes);
    if (t.bytes == 16)
      std::memcpy(t.dst, data, 16);
    else if (t.bytes == 8)
      std::memcpy(t.dst, data, 8);
    else
      std::memcpy(t.dst, data, t.bytes);
    return;
  }
  std::memcpy(t.dst, t.src, t.src_bytes);
  std::memset(t.dst + t.src_bytes, 0, t.bytes - t.src_bytes);
}

inline void issue(const Transfer& t) { deliver(t); }

}  // namespace us::device
