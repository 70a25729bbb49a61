// SPDX-License-Identifier: Apache-2.0
// Can anybody but the kernels that run change what they look at?
#pragma once

namespace us::device {

struct Machine;

// The calling thread is one of ours, not the program's.
void name_thread();

// A thread of the program that does not wait for the device, one that works for it, or another process. True where it
// is not known.
bool can_answer(Machine&);

}  // namespace us::device
