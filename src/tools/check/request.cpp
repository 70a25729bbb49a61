// SPDX-License-Identifier: Apache-2.0
#include "tools/check/request.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace us::tools {
namespace {

using sanitizer::Check;
using sanitizer::CheckSet;

constexpr std::size_t kChecks = static_cast<std::size_t>(Check::Count);

std::string_view name_of(std::size_t i) { return sanitizer::info(static_cast<Check>(i)).name; }

Diag wrong(std::string text) { return {Diag::Kind::Error, {}, std::move(text)}; }

// Names, or the beginnings of them up to a hyphen: `race`, `race-shared`.
CheckSet matching(std::string_view word) {
  CheckSet set;
  for (std::size_t i = 0; i < kChecks; ++i)
    if (name_of(i) == word || (name_of(i).starts_with(word) && name_of(i).substr(word.size()).starts_with("-")))
      set.set(i);
  return set;
}

CheckSet of_tool(std::string_view tool) {
  CheckSet set;
  for (std::size_t i = 0; i < kChecks; ++i)
    if (tool == "all" || tool == tool_of(static_cast<Check>(i))) set.set(i);
  return set;
}

}  // namespace

const char* tool_of(Check c) {
  constexpr std::string_view race[] = {"race-", "async-", "proxy-", "float-order"};
  constexpr std::string_view sync[] = {"mbarrier-", "barrier-", "warp-",  "active-mask",   "cluster-",
                                       "grid-",     "deadlock", "wgmma-", "tensor-outside"};
  const std::string_view name = sanitizer::info(c).name;
  const auto begins = [name](std::string_view p) { return name.starts_with(p); };
  if (name.starts_with("uninitialised")) return "initcheck";
  if (std::ranges::any_of(race, begins)) return "racecheck";
  return std::ranges::any_of(sync, begins) ? "synccheck" : "memcheck";
}

// `name` alone: only those that are named; `-name`: all of the tool but those.
Result<CheckSet> chosen_checks(const CheckRequest& r) {
  constexpr std::array<std::string_view, 5> tools = {"all", "memcheck", "racecheck", "initcheck", "synccheck"};
  if (std::ranges::find(tools, r.tool) == tools.end())
    return wrong(fmt::format("--tool {}: expected one of {}", r.tool, fmt::join(tools, ", ")));
  if (r.leak_check != "no" && r.leak_check != "full")
    return wrong(fmt::format("--leak-check {}: expected full or no", r.leak_check));
  CheckSet named, without;
  if (r.leak_check == "no") without.set(static_cast<std::size_t>(Check::Leak));
  for (std::string_view rest = r.checks; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    const bool off = word.starts_with('-');
    if (off) word.remove_prefix(1);
    const CheckSet these = matching(word);
    if (these.none()) return wrong(fmt::format("--check: `{}` is no check; docs/check.md lists them", word));
    (off ? without : named) |= these;
  }
  if (named.test(static_cast<std::size_t>(Check::Leak))) without.reset(static_cast<std::size_t>(Check::Leak));
  return (named.any() ? named : of_tool(r.tool)) & ~without;
}

std::string names_of(const CheckSet& set) {
  std::string names;
  for (std::size_t i = 0; i < kChecks; ++i)
    if (set.test(i)) names += fmt::format("{}{}", names.empty() ? "" : ",", name_of(i));
  return names;
}

}  // namespace us::tools
