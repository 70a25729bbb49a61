// SPDX-License-Identifier: Apache-2.0
// How a pattern of addresses is covered by 64-byte windows.
#pragma once
#include <set>
#include <vector>

#include "codegen/lower/shape.h"

namespace us::codegen {

// The 64-byte windows that cover all elements of a pattern access.
struct Windows {
  struct Window {
    i64 start = 0;
    std::set<u32> elements;
  };
  std::vector<Window> list;
  u32 per_window = 0;  // elements
  bool ok = false;
};

// `aligned`: windows start at multiples of 64 from the base, so that neighbouring accesses share them.
Windows plan_windows(const Shape&, u32 bytes, u32 count, u32 limit, i64 offset = 0, bool aligned = false);
bool is_consecutive(const Shape&, u32 bytes);

}  // namespace us::codegen
