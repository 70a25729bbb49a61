// SPDX-License-Identifier: Apache-2.0
#include "sass/elf.h"

#include <elf.h>

#include <cstring>

namespace us::sass {
namespace {

Diag problem(const char* message) { return {Diag::Kind::Error, {}, message}; }

// The part of a file; empty if it is not all there.
std::span<const u8> part(std::span<const u8> file, u64 at, u64 bytes) {
  if (at > file.size() || bytes > file.size() - at) return {};
  return file.subspan(at, bytes);
}

}  // namespace

std::string_view text_at(std::span<const u8> table, u64 at) {
  if (at >= table.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(table.data()) + at;
  const void* end = std::memchr(begin, 0, table.size() - at);
  return end ? std::string_view(begin, static_cast<const char*>(end)) : std::string_view();
}

Result<Elf> Elf::read(std::span<const u8> file) {
  const auto head = number_at<Elf64_Ehdr>(file, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB)
    return problem("this is no 64-bit ELF");
  if (head.e_shentsize != sizeof(Elf64_Shdr)) return problem("the ELF has no table of sections");
  // Numbers that are too large for the head stand in the first section's row.
  const auto first = number_at<Elf64_Shdr>(file, head.e_shoff);
  const u64 count = head.e_shnum ? head.e_shnum : first.sh_size;
  const u32 names_at = head.e_shstrndx == SHN_XINDEX ? first.sh_link : head.e_shstrndx;
  if (count == 0 || count > file.size() / sizeof(Elf64_Shdr)) return problem("the ELF has no table of sections");
  const auto table = part(file, head.e_shoff, count * sizeof(Elf64_Shdr));
  if (table.empty()) return problem("the ELF's table of sections is cut short");
  const auto row = [&](u64 i) { return number_at<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr)); };
  const auto bytes = [&](u64 i) {
    const Elf64_Shdr s = row(i);
    return s.sh_type == SHT_NOBITS ? std::span<const u8>() : part(file, s.sh_offset, s.sh_size);
  };
  Elf out;
  out.machine = head.e_machine;
  out.type = head.e_type;
  out.abi = head.e_ident[EI_ABIVERSION];
  out.flags = head.e_flags;
  const auto names = bytes(names_at);
  for (u32 i = 0; i < count; ++i) {
    const Elf64_Shdr s = row(i);
    out.sections.push_back({text_at(names, s.sh_name), s.sh_type, s.sh_info, s.sh_link, s.sh_size, bytes(i)});
    out.by_name_.emplace(out.sections.back().name, i);
    if (s.sh_type == SHT_SYMTAB && out.symbols.empty()) out.read_symbols(bytes(i), bytes(s.sh_link));
  }
  return out;
}

void Elf::read_symbols(std::span<const u8> table, std::span<const u8> names) {
  for (u64 at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    const auto s = number_at<Elf64_Sym>(table, at);
    symbols.push_back({text_at(names, s.st_name), static_cast<u8>(ELF64_ST_TYPE(s.st_info)), s.st_other, s.st_shndx,
                       s.st_value, s.st_size});
  }
}

const Elf::Section* Elf::section(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &sections[it->second];
}

u32 Elf::index_of(const Section& s) const { return static_cast<u32>(&s - sections.data()); }

std::vector<Elf::Relocation> Elf::relocations_of(const Section& target) const {
  std::vector<Relocation> out;
  for (const Section& s : sections) {
    const bool with_addend = s.type == SHT_RELA;
    if ((!with_addend && s.type != SHT_REL) || s.info != index_of(target)) continue;
    const u64 step = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (u64 at = 0; at + step <= s.bytes.size(); at += step) {
      const auto r = number_at<Elf64_Rel>(s.bytes, at);
      const auto symbol = static_cast<u32>(ELF64_R_SYM(r.r_info));
      if (symbol < symbols.size())
        out.push_back({r.r_offset, symbol, with_addend ? number_at<i64>(s.bytes, at + sizeof(Elf64_Rel)) : 0});
    }
  }
  return out;
}

}  // namespace us::sass
