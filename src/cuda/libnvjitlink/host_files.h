// SPDX-License-Identifier: Apache-2.0
// Device code in what a host's compiler made: fat binaries in sections of objects, objects in archives.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace us::nvjitlink {

using Bytes = std::span<const u8>;

bool is_archive(Bytes);
std::vector<Bytes> archive_members(Bytes archive);  // those that are files; what is cut short is left out

// The fat binaries of an object, one behind the other in .nv_fatbin, and in __nv_relfatbin where device code is
// relocatable. False: this is no object, or a damaged one.
bool fat_binaries(Bytes object, std::vector<Bytes>& out);

}  // namespace us::nvjitlink
