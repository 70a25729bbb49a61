// SPDX-License-Identifier: Apache-2.0
// Finds the PTX in a file.
#include <algorithm>

#include <fmt/format.h>

#include "tools/elf_file.h"
#include "tools/ptx_facts.h"

namespace us::tools {
namespace {

Diag problem(std::string text) { return {Diag::Kind::Error, {}, std::move(text)}; }

bool looks_like_text(std::span<const u8> bytes) {
  const auto head = bytes.first(std::min<std::size_t>(bytes.size(), 4096));
  return !head.empty() && std::none_of(head.begin(), head.end(), [](u8 c) { return c < 9; });
}

}  // namespace

Result<std::vector<PtxText>> read_ptx(const std::string& file) {
  auto bytes = read_file(file);
  if (!bytes) return bytes.diags();
  if (looks_like_text(*bytes)) return std::vector<PtxText>{{file, {bytes->begin(), bytes->end()}}};
  return problem(fmt::format("{}: expected PTX text, a fat binary, or an executable or library that contains one", file));
}

}  // namespace us::tools
