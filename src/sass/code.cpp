// SPDX-License-Identifier: Apache-2.0
#include "sass/code.h"

#include <algorithm>

#include <fmt/format.h>

#include "sass/cubin.h"

namespace us::sass {
namespace {

constexpr std::string_view kText = ".text.";
constexpr u32 kDecoded = 90;
constexpr u8 kEntry = 0x10;

// Lines, each with a zero byte at its end.
std::vector<std::string> ptx_text(const Elf& elf) {
  std::vector<std::string> out;
  const Elf::Section* s = elf.section(".nv_debug_ptx_txt");
  if (!s) return out;
  std::string line;
  for (const u8 c : s->bytes) {
    if (c) {
      line += static_cast<char>(c);
    } else {
      out.push_back(std::move(line));
      line.clear();
    }
  }
  if (!line.empty()) out.push_back(std::move(line));
  return out;
}

void name_places(const Elf& elf, u32 section, Function& f) {
  for (const Elf::Symbol& s : elf.symbols) {
    if (s.section != section || s.type != Elf::kFunction || s.name.empty()) continue;
    f.kernel |= s.name == f.name && s.other & kEntry;
    f.places.emplace(s.value, s.name);
  }
  for (const Elf::Relocation& r : elf.relocations_of(elf.sections[section]))
    f.unresolved.emplace(r.offset / 16 * 16, elf.symbols[r.symbol].name);
}

// |branch u32|zero u32|count u32| targets u32 ..|, one after the other
void read_branch_targets(const Elf& elf, Function& f) {
  constexpr u8 kValues = 4, kIndirectBranches = 0x34;
  const Elf::Section* s = elf.section(".nv.info." + f.name);
  if (!s) return;
  for (u64 at = 0; at + 4 <= s->bytes.size();) {
    const u64 bytes = s->bytes[at] == kValues ? number_at<u16>(s->bytes, at + 2) : 0;
    const bool wanted = s->bytes[at] == kValues && s->bytes[at + 1] == kIndirectBranches;
    at += 4;
    const u64 end = std::min<u64>(at + bytes, s->bytes.size());
    for (u64 p = at; wanted && p + 12 <= end;) {
      auto& list = f.branch_targets[number_at<u32>(s->bytes, p)];
      const u64 count = number_at<u32>(s->bytes, p + 8);
      p += 12;
      for (u64 i = 0; i < count && p + 4 <= end; ++i, p += 4) list.push_back(number_at<u32>(s->bytes, p));
    }
    at = end;
  }
}

Function function_of(const Elf& elf, u32 section, const LineTable& ptx, const LineTable& cuda) {
  const Elf::Section& s = elf.sections[section];
  Function f;
  f.name = s.name.substr(kText.size());
  for (u64 at = 0; at + 16 <= s.bytes.size(); at += 16) {
    f.instructions.push_back(
        decode({number_at<u64>(s.bytes, at), number_at<u64>(s.bytes, at + 8)}, static_cast<u32>(at)));
    if (!ptx.empty()) f.ptx_lines.push_back(ptx.line_of(section, at));
    if (!cuda.empty()) f.cuda_lines.push_back(cuda.lines_of(section, at));
  }
  name_places(elf, section, f);
  read_branch_targets(elf, f);
  return f;
}

}  // namespace

const Function* Code::find(std::string_view name) const {
  const auto it = std::ranges::find(functions, name, &Function::name);
  return it == functions.end() ? nullptr : &*it;
}

Result<Code> read_code(std::span<const u8> file) {
  const Result<Cubin> cubin = read_cubin(file);
  if (!cubin) return cubin.diags();
  if (cubin->sm != kDecoded)
    return Diag{Diag::Kind::Error, {}, fmt::format("machine code for sm_{}; only sm_{} is known", cubin->sm, kDecoded)};
  const Result<Elf> elf = Elf::read(file);
  if (!elf) return elf.diags();
  const LineTable ptx = LineTable::read(*elf, ".nv_debug_line_sass"), cuda = LineTable::read(*elf, ".debug_line");
  Code out;
  out.sm = cubin->sm;
  out.ptx = ptx_text(*elf);
  for (u32 i = 0; i < elf->sections.size(); ++i)
    if (elf->sections[i].name.starts_with(kText)) out.functions.push_back(function_of(*elf, i, ptx, cuda));
  return out;
}

}  // namespace us::sass
