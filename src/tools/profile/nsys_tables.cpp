// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/nsys_tables.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace us::tools {
namespace {

using timing::WorkProfile;
using Kind = WorkProfile::Kind;
using Place = WorkProfile::Place;

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// A cell that needs it stands in quotes.
std::string csv_of(const Table& t) {
  std::string s;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const bool quote = cells[k].find_first_of(",\"\n") != std::string::npos;
      std::string cell = quote ? "\"" : "";
      for (const char c : cells[k]) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
      s += (k ? "," : "") + cell + (quote ? "\"" : "");
    }
    s += "\n";
  };
  line(t.columns);
  for (const auto& r : t.rows) line(r);
  return s;
}

// Numbers to the right, names, which come last, to the left.
std::string text_of(const Table& t) {
  std::vector<std::size_t> widths;
  for (std::size_t k = 0; k < t.columns.size(); ++k) {
    widths.push_back(t.columns[k].size());
    for (const auto& r : t.rows) widths[k] = std::max(widths[k], r[k].size());
  }
  std::string s = fmt::format(" ** {}:\n\n", t.title);
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k + 1 < cells.size(); ++k) s += fmt::format(" {:>{}} ", cells[k], widths[k]);
    s += " " + cells.back() + "\n";
  };
  std::vector<std::string> rule;
  for (const std::size_t w : widths) rule.emplace_back(w, '-');
  line(t.columns), line(rule);
  for (const auto& r : t.rows) line(r);
  return s + "\n";
}

struct Values {
  std::vector<double> all;
  double sum() const {
    double s = 0;
    for (const double v : all) s += v;
    return s;
  }
  double mean() const { return sum() / static_cast<double>(all.size()); }
  double median() {
    std::ranges::sort(all);
    const std::size_t half = all.size() / 2;
    return all.size() % 2 ? all[half] : (all[half - 1] + all[half]) / 2;
  }
  double deviation() const {
    double squares = 0;
    for (const double v : all) squares += (v - mean()) * (v - mean());
    return all.size() > 1 ? std::sqrt(squares / static_cast<double>(all.size() - 1)) : 0;
  }
};

const char* kind_of(Place p) {
  return p == Place::Device ? "Device" : p == Place::Pinned ? "Pinned" : p == Place::Pageable ? "Pageable" : "";
}

std::string operation(const WorkProfile& w) {
  if (w.kind == Kind::Set) return "[CUDA memset]";
  const auto end = [](Place p) { return p == Place::Device ? "Device" : "Host"; };
  if (w.peers) return "[CUDA memcpy Peer-to-Peer]";
  return fmt::format("[CUDA memcpy {}-to-{}]", end(w.from), end(w.to));
}
bool moves(const WorkProfile& w) { return w.kind == Kind::Copy || w.kind == Kind::Set; }
std::string kernel_of(const PlacedWork& w) { return w.launch ? w.launch->kernel : w.reused ? w.reused->kernel : "?"; }
double nanoseconds(const PlacedWork& w) { return std::round(w.span.end - w.span.begin); }
double megabytes(u64 bytes) { return static_cast<double>(bytes) / 1e6; }

template <class F>
void for_each(const std::vector<PlacedProcess>& all, F&& f) {
  for (const PlacedProcess& p : all)
    for (const PlacedWork& w : p.work) f(w);
}

// Those that take most first.
std::vector<std::pair<std::string, Values>> sorted(const std::map<std::string, Values>& of) {
  std::vector<std::pair<std::string, Values>> all(of.begin(), of.end());
  std::ranges::stable_sort(all, std::greater<>(), [](const auto& v) { return v.second.sum(); });
  return all;
}

Table times(std::string title, const char* number, const char* name, const std::map<std::string, Values>& of) {
  Table t{std::move(title),
          {"Time (%)", "Total Time (ns)", number, "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", name},
          {}};
  double all = 0;
  for (const auto& [key, v] : of) all += v.sum();
  for (auto& [key, v] : sorted(of)) {
    const double median = v.median();  // they are in order from here on
    t.rows.push_back({fmt::format("{:.1f}", all > 0 ? 100 * v.sum() / all : 0), fmt::format("{:.0f}", v.sum()),
                      fmt::format("{}", v.all.size()), fmt::format("{:.1f}", v.mean()), fmt::format("{:.1f}", median),
                      fmt::format("{:.0f}", v.all.front()), fmt::format("{:.0f}", v.all.back()),
                      fmt::format("{:.1f}", v.deviation()), key});
  }
  return t;
}

Table kernels(const std::vector<PlacedProcess>& all) {
  std::map<std::string, Values> of;
  for_each(all, [&](const PlacedWork& w) {
    if (w.work.kind == Kind::Kernel && w.timed()) of[kernel_of(w)].all.push_back(nanoseconds(w));
  });
  return times("CUDA GPU Kernel Summary (cuda_gpu_kern_sum)", "Instances", "Name", of);
}

Table memory_times(const std::vector<PlacedProcess>& all) {
  std::map<std::string, Values> of;
  for_each(all, [&](const PlacedWork& w) {
    if (moves(w.work)) of[operation(w.work)].all.push_back(nanoseconds(w));
  });
  return times("CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum)", "Count", "Operation", of);
}

Table memory_sizes(const std::vector<PlacedProcess>& all) {
  std::map<std::string, Values> of;
  for_each(all, [&](const PlacedWork& w) {
    if (moves(w.work)) of[operation(w.work)].all.push_back(megabytes(w.work.bytes));
  });
  Table t{"CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum)",
          {"Total (MB)", "Count", "Avg (MB)", "Med (MB)", "Min (MB)", "Max (MB)", "StdDev (MB)", "Operation"},
          {}};
  const auto mb = [](double v) { return fmt::format("{:.3f}", v); };
  for (auto& [key, v] : sorted(of)) {
    const double median = v.median();
    t.rows.push_back({mb(v.sum()), fmt::format("{}", v.all.size()), mb(v.mean()), mb(median), mb(v.all.front()),
                      mb(v.all.back()), mb(v.deviation()), key});
  }
  return t;
}

std::vector<std::string> traced(const PlacedWork& w) {
  const auto number = [](auto n) { return fmt::format("{}", n); };
  const double ns = nanoseconds(w);
  std::vector<std::string> r = {fmt::format("{:.0f}", w.span.begin), fmt::format("{:.0f}", ns), number(w.work.node)};
  if (moves(w.work)) {
    r.resize(12);
    r.push_back(fmt::format("{:.3f}", megabytes(w.work.bytes)));
    r.push_back(ns > 0 ? fmt::format("{:.3f}", megabytes(w.work.bytes) / ns * 1e9) : "");
    r.insert(r.end(), {w.work.kind == Kind::Copy ? kind_of(w.work.from) : "", kind_of(w.work.to)});
  } else {
    if (const timing::LaunchProfile* l = w.launch) {
      for (const auto& sizes : {l->grid, l->block})
        for (u32 k = 0; k < 3; ++k) r.push_back(number(sizes[k]));
      r.push_back(number(l->residency.registers));
      for (const u64 bytes : {l->shared_static, l->shared_dynamic})
        r.push_back(fmt::format("{:.3f}", megabytes(bytes)));
    }
    r.resize(16);
  }
  r.insert(r.end(), {number(w.work.device), "1", "", number(w.work.stream),
                     w.work.kind == Kind::Kernel ? kernel_of(w) : operation(w.work)});
  return r;
}

Table trace(const std::vector<PlacedProcess>& all) {
  Table t{"CUDA GPU Trace (cuda_gpu_trace)",
          {"Start (ns)", "Duration (ns)", "CorrId",  "GrdX",         "GrdY",         "GrdZ",       "BlkX",
           "BlkY",       "BlkZ",          "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)",
           "SrcMemKd",   "DstMemKd",      "Device",  "Ctx",          "GreenCtx",     "Strm",       "Name"},
          {}};
  std::vector<const PlacedWork*> order;
  for_each(all, [&](const PlacedWork& w) {
    if (moves(w.work) || (w.work.kind == Kind::Kernel && w.timed())) order.push_back(&w);
  });
  std::ranges::stable_sort(order, {}, [](const PlacedWork* w) { return w->span.begin; });
  for (const PlacedWork* w : order) t.rows.push_back(traced(*w));
  return t;
}

struct Report {
  std::string_view name;
  Table (*make)(const std::vector<PlacedProcess>&);
};
constexpr Report kReports[] = {{"cuda_gpu_kern_sum", kernels},
                               {"cuda_gpu_mem_time_sum", memory_times},
                               {"cuda_gpu_mem_size_sum", memory_sizes},
                               {"cuda_gpu_trace", trace}};
constexpr std::string_view kNames[] = {kReports[0].name, kReports[1].name, kReports[2].name, kReports[3].name};

}  // namespace

std::span<const std::string_view> nsys_reports() { return kNames; }

std::string nsys_table(std::string_view report, const std::vector<PlacedProcess>& all, bool csv) {
  for (const Report& r : kReports)
    if (r.name == report) return csv ? csv_of(r.make(all)) : text_of(r.make(all));
  return "";
}

}  // namespace us::tools
