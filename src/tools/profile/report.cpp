// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "base/demangle.h"

namespace us::tools {
namespace {

constexpr std::string_view kRegex = "regex:";

bool matches(const std::string& wanted, std::string_view name) {
  if (!wanted.starts_with(kRegex)) return name == wanted;
  return std::regex_search(std::string(name), std::regex(wanted.substr(kRegex.size())));
}

bool in_sections(const ReportChoice& c, const timing::Metric& m) {
  if (c.sections.empty()) return c.metrics.empty();
  return std::ranges::find(c.sections, timing::name_of(m.section).name) != c.sections.end();
}

ReportRow row_of(const timing::Metric& m, std::optional<double> value) {
  const timing::SectionName& s = timing::name_of(m.section);
  return {std::string(s.name),
          std::string(s.title),
          std::string(m.name),
          std::string(m.label),
          std::string(m.unit),
          m.modelled,
          value};
}

}  // namespace

std::vector<ReportLaunch> make_report(const std::vector<timing::LaunchProfile>& all, const ReportChoice& choice) {
  const auto metrics = timing::metrics();
  std::vector<ReportLaunch> out;
  for (const timing::LaunchProfile& p : all) {
    ReportLaunch launch{out.size(), &p, {}};
    const auto values = timing::values_of(p);
    for (std::size_t k = 0; k < metrics.size(); ++k)
      if (in_sections(choice, metrics[k])) launch.rows.push_back(row_of(metrics[k], values[k]));
    for (const std::string& wanted : choice.metrics) {
      bool known = wanted.starts_with(kRegex);
      for (std::size_t k = 0; k < metrics.size(); ++k)
        if (matches(wanted, metrics[k].name)) {
          ReportRow row = row_of(metrics[k], values[k]);
          row.section = row.section_title = "Command line profiler metrics";
          row.label = row.name;
          launch.rows.push_back(std::move(row));
          known = true;
        }
      if (!known) launch.rows.push_back({"", "Command line profiler metrics", wanted, wanted, "", false, std::nullopt});
    }
    out.push_back(std::move(launch));
  }
  return out;
}

std::string number_text(const std::optional<double>& v) {
  if (!v) return "n/a";
  const bool whole = *v == static_cast<double>(static_cast<i64>(*v));
  std::string s = whole ? fmt::format("{}", static_cast<i64>(*v)) : fmt::format("{:.2f}", *v);
  const std::size_t point = std::min(s.find('.'), s.size()), first = s[0] == '-';
  for (std::size_t k = point; k > first + 3; k -= 3) s.insert(k - 3, ",");
  return s;
}

std::optional<Assertion> read_assertion(const std::string& text, std::string& why) {
  static const std::regex form(R"(\s*(?:(.*):)?\s*([A-Za-z0-9_.]+)\s*(==|!=|<=|>=|<|>)\s*([-+0-9.eE]+)\s*)");
  std::smatch m;
  if (!std::regex_match(text, m, form)) {
    why = "expected [KERNEL:]METRIC OP NUMBER, with one of == != < <= > >=";
    return {};
  }
  Assertion a{text, m[1], m[2], m[3], 0};
  std::size_t read = 0;
  try {
    a.bound = std::stod(m[4], &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read != static_cast<std::size_t>(m[4].length())) {
    why = fmt::format("`{}` is no number", m[4].str());
    return {};
  }
  if (std::ranges::none_of(timing::metrics(), [&](const timing::Metric& x) { return x.name == a.metric; })) {
    why = fmt::format("we have no metric `{}`; docs/profile.md lists them", a.metric);
    return {};
  }
  return a;
}

std::vector<std::string> violations(const Assertion& a, const std::vector<timing::LaunchProfile>& all) {
  const auto metrics = timing::metrics();
  std::vector<std::string> lines;
  u64 id = 0;
  for (const timing::LaunchProfile& p : all) {
    const u64 launch = id++;
    if (!a.kernel.empty() && function_name(p.kernel) != a.kernel && p.kernel != a.kernel) continue;
    const auto values = timing::values_of(p);
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      if (metrics[k].name != a.metric) continue;
      const auto& v = values[k];
      const bool holds = v && (a.op == "=="   ? *v == a.bound
                               : a.op == "!=" ? *v != a.bound
                               : a.op == "<"  ? *v < a.bound
                               : a.op == "<=" ? *v <= a.bound
                               : a.op == ">"  ? *v > a.bound
                                              : *v >= a.bound);
      if (!holds)
        lines.push_back(fmt::format("{}: launch {} of {}: it is {}", a.text, launch, p.kernel, number_text(v)));
    }
  }
  return lines;
}

}  // namespace us::tools
