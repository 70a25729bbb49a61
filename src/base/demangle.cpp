// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace us {
namespace {

// numba writes how it compiled a function into tags of its name; this is the first of them.
constexpr const char *kNumba = "[abi:v1]", *kTag = "[abi:";

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // a bare `a` would be read as a type
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : name;
  std::free(text);
  if (out.find(kNumba) == out.npos) return out;
  for (std::size_t at = out.find(kTag); at != out.npos; at = out.find(kTag, at)) {
    const std::size_t end = out.find(']', at);
    if (end == out.npos) break;
    out.erase(at, end + 1 - at);
  }
  return out;
}

// Blanks and parentheses inside of template arguments and of "(anonymous namespace)" belong to the name.
std::string function_name(std::string_view text) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::size_t begin = 0, depth = 0, at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<') ++depth;
    if (c == '>' && depth) --depth;
    if (depth) continue;
    if (c == ' ') begin = at + 1;
    if (c != '(') continue;
    if (!text.substr(at).starts_with(kUnnamed)) break;
    at += kUnnamed.size() - 1;
  }
  return std::string(text.substr(begin, at - begin));
}

}  // namespace us
