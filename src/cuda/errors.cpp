// SPDX-License-Identifier: Apache-2.0
#include "cuda/errors.h"

#include <algorithm>

namespace us::cuda {
namespace {
constexpr ErrorRow rows[] = {
#define US_ERROR(code, runtime_name, driver_name, text) {code, runtime_name, driver_name, text},
#include "cuda/errors.inc"
#undef US_ERROR
};
}  // namespace

std::span<const ErrorRow> error_rows() { return rows; }

const ErrorRow* find_error(int code) {
  const auto it =
      std::lower_bound(std::begin(rows), std::end(rows), code, [](const ErrorRow& r, int c) { return r.code < c; });
  return it != std::end(rows) && it->code == code ? it : nullptr;
}

}  // namespace us::cuda
