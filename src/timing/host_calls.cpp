// SPDX-License-Identifier: Apache-2.0
#include "timing/host_calls.h"

namespace us::timing {
namespace {

struct Row {
  std::string_view begins;
  double Parameters::*cost;
};
constexpr Row kRows[] = {
#define US_HOST_CALL(name, parameter) {name, &Parameters::parameter},
#include "timing/host_calls.inc"
#undef US_HOST_CALL
};

}  // namespace

double host_cost(const Parameters& p, std::string_view function) {
  while (function.starts_with('_')) function.remove_prefix(1);
  for (const std::string_view library : {"cuda", "cu"})
    if (function.starts_with(library)) {
      function.remove_prefix(library.size());
      break;
    }
  for (const Row& r : kRows)
    if (function.starts_with(r.begins)) return p.*r.cost;
  return p.host_call;
}

}  // namespace us::timing
