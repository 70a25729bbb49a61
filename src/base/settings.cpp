// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "base/files.h"

namespace us {
namespace {

constexpr SettingRow rows[] = {
#define US_SETTING(field, kind, variable, option, argument, help) \
  {#field, SettingKind::kind, variable, option, argument, help},
#include "base/settings.inc"
#undef US_SETTING
};

// One reader per kind: parses `text` into the field, or says what was expected.
const char* readText(std::string_view text, std::string& out) {
  out = text;
  return nullptr;
}
const char* readFlag(std::string_view text, bool& out) {
  if (text != "0" && text != "1") return "0 or 1";
  out = text == "1";
  return nullptr;
}
const char* readCount(std::string_view text, u32& out) {
  u32 n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  static_assert(kMostCount == 4096);
  if (error != std::errc() || end != text.data() + text.size() || n > kMostCount)
    return "a whole number from 0 to 4096";
  out = n;
  return nullptr;
}
const char* readNumber(std::string_view text, u64& out) {
  if (text.empty()) return nullptr;
  u64 n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return "a whole number";
  out = n;
  return nullptr;
}
const char* readKernels(std::string_view text, std::string& out) {
  constexpr std::string_view kRegex = "regex:", kEach = "each:";
  out = text;
  if (text.starts_with(kEach)) text.remove_prefix(kEach.size());
  if (!text.starts_with(kRegex)) return nullptr;
  try {
    const std::regex tried(std::string(text.substr(kRegex.size())));
  } catch (const std::regex_error&) {
    return "a regular expression behind `regex:`";
  }
  return nullptr;
}
const char* readMath(std::string_view text, bool& fast) {
  if (text != "exact" && text != "fast") return "`exact` or `fast`";
  fast = text == "fast";
  return nullptr;
}
const char* readAsync(std::string_view text, AsyncChoice& out) {
  static constexpr std::string_view random = "random:";
  out = {};
  if (text == "eager") return nullptr;
  if (text == "late") {
    out.delivery = AsyncDelivery::Late;
    return nullptr;
  }
  out.delivery = AsyncDelivery::Random;
  const char* const last = text.data() + text.size();
  if (text.starts_with(random)) {
    const auto [end, error] = std::from_chars(text.data() + random.size(), last, out.seed);
    if (error == std::errc() && end == last) return nullptr;
  }
  return "`eager`, `late` or `random:SEED`";
}
std::string names_of_passes(bool all) {
  std::string names;
  for (const PassRow& row : pass_rows())
    if (all || row.need == PassRow::Need::Optional) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return names;
}
const PassRow* find_pass(std::string_view name) {
  const auto it = std::ranges::find(pass_rows(), name, &PassRow::name);
  return it == pass_rows().end() ? nullptr : &*it;
}
const char* readPass(std::string_view text, std::string& out) {
  static const std::string expected = fmt::format("one of {}, all", names_of_passes(true));
  out = text;
  return text.empty() || text == "all" || find_pass(text) ? nullptr : expected.c_str();
}
const char* readPassList(std::string_view text, PassSet& out) {
  static const std::string expected =
      fmt::format("passes that code is correct without, separated by commas: {}", names_of_passes(false));
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const PassRow* const row = find_pass(text.substr(0, comma));
    if (!row || row->need != PassRow::Need::Optional) return expected.c_str();
    out.add(static_cast<Pass>(row - pass_rows().data()));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return nullptr;
}
const char* readDirectory(std::string_view text, std::string& out) {
  if (text.empty()) return "a directory, or `none`";
  out = text == "none" ? std::string() : std::string(text);
  return nullptr;
}

}  // namespace

std::span<const SettingRow> setting_rows() { return rows; }

std::string default_cache_dir(const Lookup& lookup) {
  if (const char* cache = lookup("XDG_CACHE_HOME"); cache && *cache == '/') return fmt::format("{}/understudy", cache);
  if (const char* home = lookup("HOME"); home && *home) return fmt::format("{}/.cache/understudy", home);
  return {};
}

Result<Settings> read_settings(const Lookup& lookup) {
  Settings s;
  s.cache_dir = default_cache_dir(lookup);
  std::vector<Diag> wrong;
  const auto take = [&](const char* variable, auto& field, auto reader) {
    const char* text = lookup(variable);
    const char* expected = text ? reader(text, field) : nullptr;
    if (expected) wrong.push_back({Diag::Kind::Error, {}, fmt::format("{}={}: expected {}", variable, text, expected)});
  };
#define US_SETTING(field, kind, variable, option, argument, help) take(variable, s.field, read##kind);
#include "base/settings.inc"
#undef US_SETTING
  if (!wrong.empty()) return wrong;
  return s;
}

std::string setting_text(std::string_view field, const Lookup& lookup) {
  const auto row = std::ranges::find(rows, field, &SettingRow::field);
  US_CHECK(row != std::end(rows));
  const char* text = lookup(row->variable);
  return text ? text : "";
}

std::vector<Diag> cannot_write(const Settings& s) {
  std::vector<Diag> out;
  const auto judge = [&](const char* option, const std::string& place, const std::string& why) {
    if (!why.empty()) out.push_back({Diag::Kind::Error, {}, fmt::format("{} {}: {}", option, place, why)});
  };
  if (!s.json.empty()) judge("--json", s.json, why_no_file(with_process(s.json)));
  if (!s.record.empty()) judge("--record", s.record, why_no_files_in(s.record));
  if (!s.check.empty()) judge("--check-to", s.check, why_no_files_in(s.check));
  if (!s.profile.empty()) judge("--profile-to", s.profile, why_no_files_in(s.profile));
  return out;
}

std::vector<std::string> unknown_settings(const char* const* environment) {
  std::vector<std::string> out;
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!name.starts_with("UNDERSTUDY_")) continue;
    bool known = false;
    for (const SettingRow& row : rows) known = known || name == row.variable;
    if (!known) out.emplace_back(name);
  }
  return out;
}

}  // namespace us
