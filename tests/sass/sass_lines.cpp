// SPDX-License-Identifier: Apache-2.0
// Prints what the decoder reads in a file of bare instructions, a line each:
//   offset TAB text TAB what is not known TAB registers read TAB registers written
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "sass/decode.h"

namespace {

std::string list(const std::vector<us::sass::Access>& accesses) {
  constexpr const char* banks[] = {"R", "P", "UR", "UP", "B"};
  std::string out;
  for (const auto& a : accesses)
    for (us::u32 i = 0; i < a.count; ++i)
      out += fmt::format("{}{}{}", out.empty() ? "" : " ", banks[static_cast<int>(a.bank)], a.first + i);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream in(argc > 1 ? argv[1] : "", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::string out;
  for (us::u64 at = 0; at + 16 <= bytes.size(); at += 16) {
    us::sass::Word w;
    __builtin_memcpy(&w, bytes.data() + at, 16);
    const auto i = us::sass::decode(w, static_cast<us::u32>(at));
    std::string missing;
    if (!i.opcode)
      missing = "opcode";
    else if (i.unknown_value)
      missing = "value";
    else if (!i.complete())
      missing = fmt::format("bits {:x}:{:x}", i.unknown.hi, i.unknown.lo);
    out += fmt::format("{:x}\t{}\t{}\t{}\t{}\n", at, i.text(), missing, list(i.reads), list(i.writes));
  }
  fmt::print("{}", out);
  return bytes.empty();
}
