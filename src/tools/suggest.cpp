// SPDX-License-Identifier: Apache-2.0
#include "tools/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace us::tools {
namespace {

// How many letters must be inserted, left out or changed to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t changed = diagonal + (a[i - 1] != b[k - 1]);
      diagonal = row[k];
      row[k] = std::min({changed, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::initializer_list<std::string_view> known) {
  std::string_view best;
  std::size_t least = 3;
  for (const std::string_view k : known) {
    const std::size_t d = distance(word, k);
    if (d < std::min(least, k.size())) best = k, least = d;
  }
  return best;
}

}  // namespace us::tools
