// SPDX-License-Identifier: Apache-2.0
// Summaries of recordings: API calls, kernels, their compilation, memory operations by time and by size.
#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "trace/reading.h"

namespace us::tools {

struct Summary {  // of equal things; nanoseconds or bytes
  std::string name;
  u64 count = 0, total = 0, min = 0, max = 0;
  double average = 0, median = 0;
  double percent = 0;  // of the table's total
};

struct Table {
  std::string key, title, unit;  // unit: "ns" or "bytes"
  std::vector<Summary> rows;     // most first
};

std::vector<Table> statistics(const std::vector<trace::Recording>&);
std::string to_text(const std::vector<Table>&);
void to_json(const std::vector<Table>&, JsonWriter&);  // one object

}  // namespace us::tools
