// SPDX-License-Identifier: Apache-2.0
#include "tools/check/suppressions.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace us::tools {
namespace {

Diag wrong(std::string text) { return {Diag::Kind::Error, {}, std::move(text)}; }

bool fits(const std::string& glob, const std::string& text) {
  return glob.empty() || ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

// `reduce` means reduce(float*), too.
bool fits_function(const std::string& glob, const std::string& name) {
  return fits(glob, name) || fits(glob, name.substr(0, name.find('(')));
}

// `a.cu` means any/folder/a.cu.
bool fits_file(const std::string& glob, const std::string& file) { return fits(glob, file) || fits("*/" + glob, file); }

template <class F>
bool any_frame(const sanitizer::Finding& f, F&& good) {
  return std::ranges::any_of(f.parties,
                             [&](const sanitizer::Party& p) { return std::ranges::any_of(p.site.frames, good); });
}

bool fits(const Suppression& s, const sanitizer::Finding& f) {
  if (!fits(s.name, sanitizer::info(f.check).name) || !fits_function(s.kernel, f.kernel)) return false;
  if (!fits(s.object, f.object)) return false;
  const auto file = [&](const probe::Frame& at) {
    return fits_file(s.file, at.file) && (s.line == 0 || s.line == at.line);
  };
  const auto called = [&](const std::string& glob) {
    return fits_function(glob, f.kernel) ||
           any_frame(f, [&](const probe::Frame& at) { return fits_function(glob, at.function); });
  };
  if (!s.file.empty() && !any_frame(f, file)) return false;
  return (s.frame.empty() || called(s.frame)) && std::ranges::all_of(s.frames, called);
}

// Words are separated by blanks; blanks inside of quotes belong to the word.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      continue;
    }
    const bool blank = !quoted && (c == ' ' || c == '\t' || c == '\r');
    if (!blank && !open) words.emplace_back();
    if (!blank) words.back() += c;
    open = !blank;
  }
  return words;
}

void set_file(Suppression& s, std::string value) {
  const std::size_t colon = value.rfind(':');
  u32 line = 0;
  if (colon != value.npos) {
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data() + colon + 1, last, line);
    if (error == std::errc() && end == last) value.resize(colon), s.line = line;
  }
  s.file = std::move(value);
}

const char* set(Suppression& s, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) return "expected kernel=, file=, frame= or object=";
  const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
  if (key == "file")
    set_file(s, value);
  else if (key == "kernel")
    s.kernel = value;
  else if (key == "frame")
    s.frame = value;
  else if (key == "object")
    s.object = value;
  else
    return "expected kernel=, file=, frame= or object=";
  return nullptr;
}

bool is_check(const std::string& glob) {
  for (u32 i = 0; i < static_cast<u32>(sanitizer::Check::Count); ++i)
    if (fits(glob, sanitizer::info(static_cast<sanitizer::Check>(i)).name)) return true;
  return false;
}

std::string unescaped(std::string t) {
  for (const auto& [from, to] : {std::pair<std::string, const char*>{"&lt;", "<"},
                                 {"&gt;", ">"},
                                 {"&quot;", "\""},
                                 {"&apos;", "'"},
                                 {"&amp;", "&"}})
    for (std::size_t at = 0; (at = t.find(from, at)) != t.npos; ++at) t.replace(at, from.size(), to);
  return t;
}

// The texts of all elements of that name inside of `xml`.
std::vector<std::string> elements(const std::string& xml, const std::string& name) {
  std::vector<std::string> out;
  const std::string open = "<" + name, close = "</" + name + ">";
  for (std::size_t at = 0; (at = xml.find(open, at)) != xml.npos;) {
    const std::size_t begin = xml.find('>', at), end = xml.find(close, at);
    const char after = at + open.size() < xml.size() ? xml[at + open.size()] : '>';
    at += open.size();
    if ((after != '>' && after != ' ') || begin == xml.npos || end == xml.npos || end < begin) continue;
    out.push_back(xml.substr(begin + 1, end - begin - 1));
    at = end;
  }
  return out;
}

std::string quoted(const std::string& text) { return text.find(' ') == text.npos ? text : "\"" + text + "\""; }

// As a GLOB that means just this text.
std::string literal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::vector<Diag> Suppressions::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) return {wrong(fmt::format("--suppressions {}: cannot be read", path))};
  return parse(std::string((std::istreambuf_iterator<char>(in)), {}), path);
}

std::vector<Diag> Suppressions::parse(const std::string& text, const std::string& origin) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '<') return parse_xml(text, origin);
  std::vector<Diag> bad;
  std::istringstream in(text);
  u32 number = 0;
  for (std::string line; std::getline(in, line);) {
    Suppression s;
    s.origin = fmt::format("{}:{}", origin, ++number);
    if (const std::size_t hash = line.find('#'); hash != line.npos) {
      const std::size_t begin = line.find_first_not_of(" \t", hash + 1);
      if (begin != line.npos) s.reason = line.substr(begin);
      line.resize(hash);
    }
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    s.name = words.front();
    const char* why = is_check(s.name) ? nullptr : "no check has this name; docs/check.md lists them";
    for (std::size_t i = 1; i < words.size() && !why; ++i) why = set(s, words[i]);
    if (why)
      bad.push_back(wrong(fmt::format("{}: {}", s.origin, why)));
    else
      all_.push_back(std::move(s));
  }
  return bad;
}

// <record> with a kernel's name in <kernel><name> or <kernel>, and <frame> with <func> and <file>.
std::vector<Diag> Suppressions::parse_xml(const std::string& text, const std::string& origin) {
  u32 number = 0;
  const auto value = [](const std::string& xml, const char* name) {
    const auto all = elements(xml, name);
    return all.empty() ? std::string() : unescaped(all.front());
  };
  for (const std::string& record : elements(text, "record")) {
    Suppression s;
    s.origin = fmt::format("{} record {}", origin, ++number);
    s.reason = value(record, "what");
    if (const auto kernel = elements(record, "kernel"); !kernel.empty())
      s.kernel =
          kernel.front().find('<') == std::string::npos ? unescaped(kernel.front()) : value(kernel.front(), "name");
    for (const std::string& frame : elements(record, "frame")) {
      if (const std::string f = value(frame, "func"); !f.empty()) s.frames.push_back(f);
      if (const std::string f = value(frame, "file"); !f.empty() && s.file.empty()) s.file = f;
    }
    if (!s.kernel.empty() || !s.file.empty() || !s.frames.empty()) all_.push_back(std::move(s));
  }
  if (number == 0) return {wrong(fmt::format("{}: XML without a <record>", origin))};
  return {};
}

const Suppression* Suppressions::match(const sanitizer::Finding& f) {
  for (Suppression& s : all_)
    if (fits(s, f)) return ++s.used, &s;
  return nullptr;
}

std::string suppression_of(const sanitizer::Finding& f) {
  std::string line = sanitizer::info(f.check).name;
  if (!f.kernel.empty()) line += " kernel=" + quoted(literal(f.kernel));
  for (const sanitizer::Party& p : f.parties) {
    if (p.site.frames.empty() || p.site.frames.front().file.empty()) continue;
    const probe::Frame& at = p.site.frames.front();
    return line + " file=" + quoted(literal(at.file) + (at.line ? fmt::format(":{}", at.line) : ""));
  }
  return f.kernel.empty() ? line + " object=" + quoted(literal(f.object)) : line;
}

}  // namespace us::tools
