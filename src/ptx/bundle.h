// SPDX-License-Identifier: Apache-2.0
// Reads what make_bundle() made, where its size is known.
#pragma once
#include <span>
#include <vector>

#include "ptx/fatbin.h"

namespace us::ptx {

// The texts, or that the bundle is damaged: it is not read beyond the span.
Result<std::vector<Image>> texts_of_bundle(std::span<const u8> bundle);

}  // namespace us::ptx
