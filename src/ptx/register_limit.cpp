// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_limit.h"

namespace us::ptx {

// ".entry name(parameters) directives {": neither parameters nor directives have a brace.
std::string with_register_limit(std::string text, u32 registers) {
  const std::string limit = ".maxnreg " + std::to_string(registers) + "\n";
  for (std::size_t at = 0; (at = text.find(".entry ", at)) != text.npos; ++at) {
    const std::size_t end = text.find_first_of("{;", at);
    if (end == text.npos || text[end] == ';' || text.substr(at, end - at).find(".maxnreg") != text.npos) continue;
    text.insert(end, limit);
  }
  return text;
}

}  // namespace us::ptx
