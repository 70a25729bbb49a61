// SPDX-License-Identifier: Apache-2.0
// The box that most copies move: dense rows of a tiled tensor, all inside it, copied unchanged.
#pragma once
#include "memory/tensor_box.h"

namespace us::memory {

// False, and nothing is done, if the box is of another kind.
bool load_plain_box(const TensorBox&, u8* shared);
bool store_plain_box(const TensorBox&, const u8* shared);

}  // namespace us::memory
