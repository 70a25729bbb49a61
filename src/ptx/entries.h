// SPDX-License-Identifier: Apache-2.0
// What stands in a fat binary besides the PTX that suits a device.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ptx/fatbin.h"

namespace us::ptx {

// For a person: "PTX for compute_90", "machine code for sm_90a".
Result<std::vector<std::string>> list_entries(std::span<const u8> fatbin);

// For a fat binary (or a wrapper of one) without PTX for the target, which a real device runs by its machine code: PTX
// of the lowest architecture above, as long as it is not one architecture's or family's own. An instruction that the
// target lacks fails where it is reached.
Result<Image> find_newer_ptx(std::span<const u8> fatbin, Target);
Result<std::vector<Image>> find_newer_ptx(const void* image, Target);

}  // namespace us::ptx
