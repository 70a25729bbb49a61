// SPDX-License-Identifier: Apache-2.0
#include "driver/code/source_text.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace us::driver {
namespace {

// `return;`: one with a value is of a function that goes on where it was called.
bool returns(const std::string& line) {
  const std::string code = line.substr(0, line.find("//"));
  constexpr std::string_view kWord = "return";
  for (std::size_t at = code.find(kWord); at != std::string::npos; at = code.find(kWord, at + 1)) {
    if (at && (std::isalnum(static_cast<unsigned char>(code[at - 1])) || code[at - 1] == '_')) continue;
    const std::size_t next = code.find_first_not_of(" \t", at + kWord.size());
    if (next == std::string::npos || code[next] == ';') return true;
  }
  return code.find("exit;") != std::string::npos;
}

bool returns_within(const std::string& path, u32 first, u32 last) {
  std::ifstream in(path);
  std::string line;
  for (u32 n = 1; n <= last; ++n)
    if (!std::getline(in, line) || (n >= first && returns(line))) return true;
  return false;
}

}  // namespace

bool may_return(const ir::Module& m, const ir::Function& f, const ir::Inst& inst) {
  const auto outer = [&](SrcLoc l) {
    return l.inlined && l.inlined < m.inlined.size() ? m.inlined[l.inlined].at : SrcLoc();
  };
  if (!inst.loc.file) return true;
  for (SrcLoc at = inst.loc; at.file; at = outer(at)) {
    u32 first = at.line, last = at.line;  // of the function, as far as anything is made of it
    const auto widen = [&](SrcLoc l) {
      for (; l.file; l = outer(l))
        if (l.file == at.file && l.inlined == at.inlined && l.line)
          first = std::min(first, l.line), last = std::max(last, l.line);
    };
    for (const ir::Block& b : f.blocks) {
      for (const ir::Inst& i : b.insts) widen(i.loc);
      widen(b.term.loc);
    }
    if (at.file >= m.files.size() || returns_within(m.files[at.file], first, last)) return true;
  }
  return false;
}

}  // namespace us::driver
