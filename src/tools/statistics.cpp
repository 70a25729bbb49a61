// SPDX-License-Identifier: Apache-2.0
#include "tools/statistics.h"
#include "base/demangle.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "tools/chrome_trace.h"

namespace us::tools {
namespace {

using Samples = std::map<std::string, std::vector<u64>>;

Summary summary_of(const std::string& name, std::vector<u64> v) {
  std::sort(v.begin(), v.end());
  Summary s;
  s.name = name;
  s.count = v.size();
  s.total = std::accumulate(v.begin(), v.end(), u64(0));
  s.min = v.front();
  s.max = v.back();
  s.average = static_cast<double>(s.total) / static_cast<double>(s.count);
  const std::size_t half = v.size() / 2;
  s.median = v.size() % 2 ? static_cast<double>(v[half])
                          : (static_cast<double>(v[half - 1]) + static_cast<double>(v[half])) / 2;
  return s;
}

Table table_of(std::string key, std::string title, std::string unit, const Samples& samples) {
  Table t{std::move(key), std::move(title), std::move(unit), {}};
  u64 all = 0;
  for (const auto& [name, v] : samples) all += t.rows.emplace_back(summary_of(name, v)).total;
  for (Summary& s : t.rows) s.percent = all ? 100.0 * static_cast<double>(s.total) / static_cast<double>(all) : 0;
  std::stable_sort(t.rows.begin(), t.rows.end(), [](const Summary& a, const Summary& b) { return a.total > b.total; });
  return t;
}

void append_text(std::string& out, const Table& t) {
  out += fmt::format("\n{} ({})\n", t.title, t.unit);
  if (t.rows.empty()) {
    out += "  none\n";
    return;
  }
  out += fmt::format("  {:>6} {:>15} {:>9} {:>15} {:>15} {:>13} {:>13}  {}\n", "%", "total", "count", "average",
                     "median", "min", "max", "name");
  for (const Summary& s : t.rows)
    out += fmt::format("  {:>6.1f} {:>15} {:>9} {:>15.1f} {:>15.1f} {:>13} {:>13}  {}\n", s.percent, s.total, s.count,
                       s.average, s.median, s.min, s.max, s.name);
}

}  // namespace

std::vector<Table> statistics(const std::vector<trace::Recording>& all) {
  Samples calls, kernels, times, sizes, others, compiles;
  for (const trace::Recording& r : all) {
    for (const trace::Call& c : r.calls) calls[r.names.at(c.name)].push_back(c.end - c.begin);
    for (const trace::Compile& c : r.compiles)
      compiles[c.from_cache ? "(from the cache)" : demangled(r.names.at(c.name))].push_back(c.end - c.begin);
    for (const trace::Work& w : r.work) {
      using What = trace::Work::What;
      const std::string name = work_name(r, w);
      const bool memory = w.what == What::Copy || w.what == What::Set;
      (memory ? times : w.what == What::Kernel ? kernels : others)[name].push_back(w.end - w.begin);
      if (memory) sizes[name].push_back(w.bytes);
    }
  }
  return {table_of("api", "API calls", "ns", calls),
          table_of("kernels", "Kernels", "ns", kernels),
          table_of("memory_time", "Memory operations by time", "ns", times),
          table_of("memory_size", "Memory operations by size", "bytes", sizes),
          table_of("compile", "Kernels compiled", "ns", compiles),
          table_of("other", "Other work of streams", "ns", others)};
}

std::string to_text(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& t : tables)
    if (!t.rows.empty() || (t.key != "other" && t.key != "compile")) append_text(out, t);
  return out;
}

void to_json(const std::vector<Table>& tables, JsonWriter& w) {
  w.object();
  for (const Table& t : tables) {
    w.key(t.key).object().field("unit", t.unit).key("rows").array();
    for (const Summary& s : t.rows)
      w.object()
          .field("name", s.name)
          .field("count", s.count)
          .field("total", s.total)
          .field("average", s.average)
          .field("median", s.median)
          .field("min", s.min)
          .field("max", s.max)
          .field("percent", s.percent)
          .end();
    w.end().end();
  }
  w.end();
}

}  // namespace us::tools
