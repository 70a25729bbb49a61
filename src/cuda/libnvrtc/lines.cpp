// SPDX-License-Identifier: Apache-2.0
#include "cuda/libnvrtc/lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/settings.h"
#include "cuda/api.h"
#include "cuda/process/python_stack.h"

namespace us::nvrtc {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kMostLines = 20000;
constexpr std::size_t kFewest = 12;  // characters that say where a text is from

Lines split(std::string_view text) {
  Lines out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Without blanks around it and semicolons at the end, which clients add.
std::string_view core(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r;") + 1 - begin);
}

struct Script {
  std::string name, text;
  Lines lines;
};

std::vector<Script> scripts() {
  std::vector<Script> out;
  for (const u32 place : cuda::python_stack()) {
    Script s{.name = cuda::python_place(place).file, .text = {}, .lines = {}};
    if (std::ranges::any_of(out, [&](const Script& o) { return o.name == s.name; })) continue;
    std::ifstream in(s.name, std::ios::binary);
    s.text.assign(std::istreambuf_iterator<char>(in), {});
    out.push_back(std::move(s));
  }
  for (Script& s : out) s.lines = split(s.text);
  std::erase_if(out, [](const Script& s) { return s.lines.empty() || s.lines.size() > kMostLines; });
  return out;
}

struct Run {  // lines of a source that stand in a script
  const Script* in = nullptr;
  std::size_t at = 0, lines = 0, characters = 0;
};

// A directive can neither begin in the middle of another nor be part of a macro.
bool may_begin(const Lines& source, std::size_t i) {
  return core(source[i]).size() >= 2 && !core(source[i]).starts_with('#') && (i == 0 || !source[i - 1].ends_with('\\'));
}

Run run_at(const Lines& source, std::size_t i, const Script& script, std::size_t at) {
  Run r{.in = &script, .at = at};
  for (; i < source.size() && at < script.lines.size(); ++i, ++at, ++r.lines) {
    const std::string_view mine = core(source[i]);
    if (mine.empty() ? !core(script.lines[at]).empty() : script.lines[at].find(mine) == std::string_view::npos) break;
    r.characters += mine.size();
  }
  return r;
}

// The longest; among equals the first one behind `last`, then the first.
Run longest(const Lines& source, std::size_t i, const std::vector<Script>& all, const Run& last) {
  Run best;
  const auto follows = [&](const Run& r) { return r.in == last.in && r.at >= last.at + last.lines; };
  for (const Script& s : all)
    for (std::size_t at = 0; at < s.lines.size(); ++at) {
      const Run r = run_at(source, i, s, at);
      const bool better =
          r.characters > best.characters || (r.characters == best.characters && follows(r) && !follows(best));
      if (r.characters >= kFewest && better) best = r;
    }
  return best;
}

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

bool wants_lines() {
  static const bool wants =
      !setting_text("check").empty() || !setting_text("profile").empty() || setting_text("count") == "1";
  return wants;
}

std::string with_lines(const std::string& source, const std::string& name) {
  const Lines lines = split(source);
  if (lines.size() > kMostLines || source.find("#line") != source.npos) return source;
  const std::vector<Script> all = scripts();
  if (all.empty()) return source;
  std::string out;
  bool elsewhere = false;
  Run last;
  for (std::size_t i = 0; i < lines.size();) {
    const Run r = may_begin(lines, i) ? longest(lines, i, all, last) : Run();
    if (r.lines) {
      std::error_code error;
      const std::string file = std::filesystem::absolute(r.in->name, error).string();
      out += fmt::format("#line {} \"{}\"\n", r.at + 1, escaped(file));
      last = r;
    } else if (elsewhere && (i == 0 || !lines[i - 1].ends_with('\\'))) {
      out += fmt::format("#line {} \"{}\"\n", i + 1, escaped(name));
    }
    elsewhere = r.lines != 0;
    for (const std::size_t end = i + std::max<std::size_t>(r.lines, 1); i < end; ++i) out.append(lines[i]) += '\n';
  }
  return last.in ? out : source;
}

}  // namespace us::nvrtc

// For adapters in Python, whose clients start a compiler or keep what was compiled by its source. Valid until the
// thread's next call.
US_API const char* understudy_with_lines(const char* source, const char* name) {
  thread_local std::string text;
  text = us::nvrtc::with_lines(source, name);
  return text.c_str();
}
