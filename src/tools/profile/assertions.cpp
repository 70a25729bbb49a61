// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/assertions.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "base/demangle.h"
#include "tools/profile/report.h"

namespace us::tools {
namespace {

using timing::LaunchProfile;

bool read_number(const std::string& text, double& to) {
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

bool compare(double a, const std::string& op, double b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  return op == ">" ? a > b : a >= b;
}

bool is_about(const Assertion& a, const LaunchProfile& p) {
  return a.kernel.empty() || function_name(p.kernel) == a.kernel || p.kernel == a.kernel;
}

// What is wrong with a launch, or nothing.
std::string violation(const Assertion& a, std::size_t metric, const LaunchProfile& p, const LaunchProfile* before) {
  const auto value = timing::values_of(p)[metric];
  std::string said = fmt::format("it is {}", number_text(value));
  if (!a.of_baseline) return value && compare(*value, a.op, a.bound) ? "" : said;
  if (!before) return said + ", and the baseline has no such launch";
  const auto old = timing::values_of(*before)[metric];
  if (value && old && compare(*value, a.op, a.bound * *old)) return "";
  return fmt::format("{}, the baseline has {}", said, number_text(old));
}

}  // namespace

std::vector<const LaunchProfile*> Baseline::of(const std::vector<LaunchProfile>& all) const {
  std::map<std::string, std::vector<const LaunchProfile*>> by_kernel;
  for (const LaunchProfile& p : launches_) by_kernel[p.kernel].push_back(&p);
  std::map<std::string, std::size_t> next;
  std::vector<const LaunchProfile*> out;
  for (const LaunchProfile& p : all) {
    const auto& theirs = by_kernel[p.kernel];
    const std::size_t n = next[p.kernel]++;
    out.push_back(n < theirs.size() ? theirs[n] : nullptr);
  }
  return out;
}

std::optional<Assertion> read_assertion(const std::string& text, std::string& why) {
  static const std::regex form(
      R"(\s*(?:(.*):)?\s*([A-Za-z0-9_.]+)\s*(==|!=|<=|>=|<|>)\s*([-+0-9.eE]+)?\s*(\*?\s*baseline)?\s*)");
  std::smatch m;
  const bool fits = std::regex_match(text, m, form) && (m[4].matched || m[5].matched) &&
                    m[5].str().starts_with('*') == (m[4].matched && m[5].matched);
  if (!fits) {
    why = "expected [KERNEL:]METRIC OP NUMBER or [KERNEL:]METRIC OP [NUMBER *] baseline, with one of == != < <= > >=";
    return {};
  }
  Assertion a{text, m[1], m[2], m[3], 1, m[5].matched};
  if (m[4].matched && !read_number(m[4], a.bound)) {
    why = fmt::format("`{}` is no number", m[4].str());
    return {};
  }
  if (std::ranges::none_of(timing::metrics(), [&](const timing::Metric& x) { return x.name == a.metric; })) {
    why = fmt::format("we have no metric `{}`; docs/profile.md lists them", a.metric);
    return {};
  }
  return a;
}

std::vector<Verdict> verdicts(const Assertion& a, const std::vector<LaunchProfile>& all,
                              const std::vector<const LaunchProfile*>& before) {
  const auto metrics = timing::metrics();
  const auto metric =
      static_cast<std::size_t>(std::ranges::find(metrics, a.metric, &timing::Metric::name) - metrics.begin());
  std::vector<Verdict> out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!is_about(a, all[k])) continue;
    auto of = std::ranges::find(out, all[k].kernel, &Verdict::kernel);
    if (of == out.end()) of = out.insert(of, {a.text, all[k].kernel, ""});
    if (const auto why = violation(a, metric, all[k], before.empty() ? nullptr : before[k]); !why.empty())
      of->violated += fmt::format("{}launch {} of {}: {}", of->violated.empty() ? "" : "\n", k, all[k].kernel, why);
  }
  if (out.empty())
    out.push_back({a.text, a.kernel, "there is no launch" + (a.kernel.empty() ? "" : " of " + a.kernel)});
  return out;
}

std::vector<JunitCase> junit_cases(const std::vector<Verdict>& all) {
  std::vector<JunitCase> out;
  for (const Verdict& v : all) {
    const auto launches = std::ranges::count(v.violated, '\n') + 1;
    out.push_back({v.kernel.empty() ? "profile" : v.kernel, v.assertion,
                   v.violated.empty() ? "" : fmt::format("{} violation{}", launches, launches == 1 ? "" : "s"),
                   v.violated});
  }
  return out;
}

}  // namespace us::tools
