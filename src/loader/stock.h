// SPDX-License-Identifier: Apache-2.0
// Where the toolkit's own libraries are that programs asked for and did not get: ours ask for them (NVRTC compiles).
#pragma once
#include <link.h>

namespace us::loader {

// A library of ours opens kStockPrefix + "libnvrtc.so.12" to get the one that the program meant.
inline constexpr char kStockPrefix[] = "understudy-stock:";
bool is_request_for_stock(const char* name);
const char* stock_path(const char* request);  // the request itself where none is known

// `from` asked for `name`, which is `library` ("libnvrtc.so.12"): by its path, or by a name that its run path may
// answer.
void remember_stock(const char* library, const char* name, const link_map* from);

}  // namespace us::loader
