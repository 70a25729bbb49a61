// SPDX-License-Identifier: Apache-2.0
#include "cuda/lookup.h"

#include <algorithm>

namespace us::cuda {
namespace {

struct Row {
  std::string_view base, symbol;
  int version;
  bool per_thread() const { return symbol.ends_with("_ptsz") || symbol.ends_with("_ptds"); }
};

// Sorted by base name; of one name, plain ones first, each from old to new.
constexpr Row rows[] = {
#define US_SYMBOL_VERSION(base, symbol, version) {#base, #symbol, version},
#include "cuda/libcuda/versions.inc"
#undef US_SYMBOL_VERSION
};

}  // namespace

LookupResult look_up(std::string_view base, int version, bool per_thread) {
  const Row* best = nullptr;
  bool exists = false;
  for (const Row *r = std::lower_bound(std::begin(rows), std::end(rows), base,
                                       [](const Row&a, std::string_view b) { return a.base < b; });
       r != std::end(rows) && r->base == base; ++r) {
    exists = true;
    if (r->version <= version && (per_thread || !r->per_thread())) best = r;
  }
  if (!best) return {exists ? LookupStatus::VersionTooOld : LookupStatus::NotFound, nullptr};
  return {LookupStatus::Found, exported_driver_function(*find_entry(driver_entries(), best->symbol))};
}

}  // namespace us::cuda
