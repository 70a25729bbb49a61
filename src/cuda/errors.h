// SPDX-License-Identifier: Apache-2.0
// Names and texts of both error enumerations.
#pragma once
#include <span>

#include "base/types.h"

namespace us::cuda {

struct ErrorRow {
  int code;
  const char* runtime_name;  // "" where the runtime API has no such code
  const char* driver_name;   // "" where the driver API has no such code
  const char* text;
};
std::span<const ErrorRow> error_rows();
const ErrorRow* find_error(int code);

}  // namespace us::cuda
