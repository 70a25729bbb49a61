// SPDX-License-Identifier: Apache-2.0
// The calls of the program that led into our libraries.
#pragma once
#include "sanitizer/host_stack.h"

namespace us::cuda {
sanitizer::HostStack host_stack();
}
