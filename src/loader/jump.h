// SPDX-License-Identifier: Apache-2.0
// A function's first bytes replaced:
//
//     ff 25 00 00 00 00   jmp *0(%rip)
//     8 bytes             the address to go on at
#pragma once
#include <string.h>

namespace us::loader {

inline constexpr size_t kJumpBytes = 14;

inline void write_jump(unsigned char* code, void (*to)()) {
  constexpr unsigned char kIndirect[6] = {0xff, 0x25, 0, 0, 0, 0};
  memcpy(code, kIndirect, sizeof kIndirect);
  memcpy(code + sizeof kIndirect, &to, sizeof to);
}

// The same, with a number for the function in a register that no call uses:
//
//     41 ba 4 bytes       mov $number, %r10d
inline constexpr size_t kNumberedJumpBytes = 6 + kJumpBytes;

inline void write_numbered_jump(unsigned char* code, unsigned number, void (*to)()) {
  constexpr unsigned char kMove[2] = {0x41, 0xba};
  memcpy(code, kMove, sizeof kMove);
  memcpy(code + sizeof kMove, &number, sizeof number);
  write_jump(code + sizeof kMove + sizeof number, to);
}

}  // namespace us::loader
