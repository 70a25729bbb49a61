// SPDX-License-Identifier: Apache-2.0
// Which libraries are ours, whatever the path a program asks for.
#pragma once
#include <link.h>

namespace us::loader {

// The directory of this library and of all others of ours. Found once, at load; nothing is ours without.
bool find_own_directory();
const char* own_directory();
bool is_own(const char* path);  // lies in it

// What a load of `name` by `from` (null: not known) becomes: `name` itself, or the path of ours.
const char* choose_library(const char* name, const link_map* from);
// The same for the last place that is searched, or a path that was asked for: ours where nothing is there.
const char* choose_last_resort(const char* path);

}  // namespace us::loader
