// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.h"

#include <unistd.h>

#include <fmt/format.h>

namespace us::tools {
namespace {

bool coloured(std::FILE* stream) {
  const char* no = std::getenv("NO_COLOR");
  return !(no && *no) && ::isatty(::fileno(stream)) != 0;
}

}  // namespace

std::string styled(std::FILE* stream, Style style, std::string_view text) {
  constexpr const char* codes[] = {"", "1", "2", "31", "32", "33"};
  if (style == Style::Plain || !coloured(stream)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<int>(style)], text);
}

void complain(std::string_view text) { fmt::print(stderr, "{} {}\n", styled(stderr, Style::Red, "understudy:"), text); }

void complain(const std::vector<Diag>& diags) {
  for (const Diag& d : diags) complain(d.message);
}

}  // namespace us::tools
