// SPDX-License-Identifier: Apache-2.0
#include "base/passes.h"

namespace us {

static constexpr PassRow rows[] = {
#define US_PASS(id, name, need, what) {name, PassRow::Need::need, what},
#include "base/passes.inc"
#undef US_PASS
};

std::span<const PassRow> pass_rows() { return rows; }

std::string_view name_of(Pass p) { return rows[static_cast<std::size_t>(p)].name; }

}  // namespace us
