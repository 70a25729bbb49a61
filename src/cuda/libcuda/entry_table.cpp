// SPDX-License-Identifier: Apache-2.0
#define US_TABLE_FILE "cuda/libcuda/entry_points.inc"
#define US_STUB_RESULT(code) identity(code)
namespace us::cuda {
static int identity(int code) { return code; }
}  // namespace us::cuda
#include "cuda/stub_rows.h"

#include <algorithm>

namespace us::cuda {

std::span<const Entry> driver_entries() { return rows; }
void append_driver_stub_calls(std::vector<StubCalls>& out) { append_stub_calls(out); }

const Entry* find_entry(std::span<const Entry> table, std::string_view name) {
  const auto it =
      std::lower_bound(table.begin(), table.end(), name, [](const Entry& e, std::string_view n) { return e.name < n; });
  return it != table.end() && it->name == name ? &*it : nullptr;
}

}  // namespace us::cuda
