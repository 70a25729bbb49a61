// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_limit.h"

#include <string_view>

namespace us::ptx {
namespace {

// Behind the comment or the string that begins at `at`; where none does, `at`.
std::size_t skip(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  const std::string_view rest = text.substr(at);
  return rest.starts_with("//")   ? behind("\n", at)
         : rest.starts_with("/*") ? behind("*/", at + 2)
         : rest.starts_with('"')  ? behind("\"", at + 1)
                                  : at;
}

}  // namespace

// ".entry name(parameters) directives {": neither parameters nor directives have a brace.
std::string with_register_limit(std::string text, u32 registers) {
  const std::string limit = ".maxnreg " + std::to_string(registers) + "\n";
  bool unlimited = false;  // within the head of an entry without limit
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = skip(text, at); behind != at) {
      at = behind;
      continue;
    }
    if (text.compare(at, 7, ".entry ") == 0) unlimited = true;
    if (text[at] == ';' || text.compare(at, 8, ".maxnreg") == 0) unlimited = false;
    if (text[at] == '{' && unlimited) {
      text.insert(at, limit);
      at += limit.size();
      unlimited = false;
    }
    ++at;
  }
  return text;
}

}  // namespace us::ptx
