// SPDX-License-Identifier: Apache-2.0
#include "tools/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

namespace us::tools {
namespace {

Diag problem(std::string text) { return {Diag::Kind::Error, {}, std::move(text)}; }

// Reads of a file that may be cut short or lie about itself: everything is checked against its size.
class View {
 public:
  explicit View(std::span<const u8> file) : file_(file) {}
  template <class T>
  bool get(u64 offset, T& out) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, file_.data() + offset, sizeof(T));
    return true;
  }
  std::span<const u8> part(u64 offset, u64 size) const {
    if (offset > file_.size() || file_.size() - offset < size) return {};
    return file_.subspan(offset, size);
  }

 private:
  std::span<const u8> file_;
};

std::string text_at(std::span<const u8> strings, u64 offset) {
  if (offset >= strings.size()) return {};
  const u8* start = strings.data() + offset;
  const u8* end = std::find(start, strings.data() + strings.size(), u8{0});
  return {reinterpret_cast<const char*>(start), reinterpret_cast<const char*>(end)};
}

struct Sections {
  View view;
  std::vector<Elf64_Shdr> headers;

  explicit Sections(std::span<const u8> file) : view(file) {
    Elf64_Ehdr header;
    if (!view.get(0, header)) return;
    for (u32 i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr s;
      if (view.get(header.e_shoff + u64{i} * sizeof s, s)) headers.push_back(s);
    }
  }
  std::span<const u8> bytes(const Elf64_Shdr& s) const {
    return s.sh_type == SHT_NOBITS ? std::span<const u8>() : view.part(s.sh_offset, s.sh_size);
  }
  std::span<const u8> bytes(u32 index) const {
    return index < headers.size() ? bytes(headers[index]) : std::span<const u8>();
  }
  const Elf64_Shdr* find(u32 type) const {
    const auto it =
        std::find_if(headers.begin(), headers.end(), [&](const Elf64_Shdr& s) { return s.sh_type == type; });
    return it == headers.end() ? nullptr : &*it;
  }
};

// Version index → name, from the definitions (GNU_verdef) and the needs (GNU_verneed).
std::map<u16, std::string> version_names(const Sections& all) {
  std::map<u16, std::string> names;
  if (const Elf64_Shdr* s = all.find(SHT_GNU_verdef)) {
    const View view(all.bytes(*s));
    Elf64_Verdef d;
    for (u64 at = 0; view.get(at, d); at += d.vd_next) {
      Elf64_Verdaux a;
      if (view.get(at + d.vd_aux, a) && !(d.vd_flags & VER_FLG_BASE))
        names[d.vd_ndx] = text_at(all.bytes(s->sh_link), a.vda_name);
      if (d.vd_next == 0) break;
    }
  }
  if (const Elf64_Shdr* s = all.find(SHT_GNU_verneed)) {
    const View view(all.bytes(*s));
    Elf64_Verneed n;
    for (u64 at = 0; view.get(at, n); at += n.vn_next) {
      Elf64_Vernaux a;
      for (u64 aux = at + n.vn_aux; view.get(aux, a); aux += a.vna_next) {
        names[a.vna_other] = text_at(all.bytes(s->sh_link), a.vna_name);
        if (a.vna_next == 0) break;
      }
      if (n.vn_next == 0) break;
    }
  }
  return names;
}

}  // namespace

Result<std::vector<u8>> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return problem(fmt::format("{}: {}", path, std::strerror(errno)));
  std::vector<u8> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return problem(fmt::format("{}: cannot be read", path));
  return bytes;
}

bool ElfFile::is_elf(std::span<const u8> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Result<ElfFile> ElfFile::open(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) return bytes.diags();
  ElfFile f;
  f.file_ = std::move(*bytes);
  if (!f.read()) return problem(fmt::format("{}: no 64-bit x86 ELF file", path));
  return f;
}

bool ElfFile::read() {
  Elf64_Ehdr header;
  if (!is_elf(file_) || !View(file_).get(0, header)) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return false;
  executable_or_library = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  const Sections all(file_);
  for (const Elf64_Shdr& s : all.headers)
    sections.push_back({text_at(all.bytes(header.e_shstrndx), s.sh_name), all.bytes(s)});
  read_dynamic();
  read_symbols(SHT_DYNSYM, dynamic_symbols);
  read_symbols(SHT_SYMTAB, symbols);
  return true;
}

void ElfFile::read_dynamic() {
  const Sections all(file_);
  const Elf64_Shdr* s = all.find(SHT_DYNAMIC);
  if (!s) return;
  const auto strings = all.bytes(s->sh_link);
  const View view(all.bytes(*s));
  Elf64_Dyn d;
  for (u64 at = 0; view.get(at, d) && d.d_tag != DT_NULL; at += sizeof d) {
    if (d.d_tag == DT_NEEDED) needed.push_back(text_at(strings, d.d_un.d_val));
    if (d.d_tag == DT_SONAME) soname = text_at(strings, d.d_un.d_val);
    if (d.d_tag == DT_RPATH) rpath = text_at(strings, d.d_un.d_val);
    if (d.d_tag == DT_RUNPATH) runpath = text_at(strings, d.d_un.d_val);
  }
}

void ElfFile::read_symbols(u32 type, std::vector<Symbol>& out) {
  const Sections all(file_);
  const Elf64_Shdr* table = all.find(type);
  if (!table) return;
  const auto strings = all.bytes(table->sh_link);
  const View view(all.bytes(*table));
  const Elf64_Shdr* versym = type == SHT_DYNSYM ? all.find(SHT_GNU_versym) : nullptr;
  const View versions(versym ? all.bytes(*versym) : std::span<const u8>());
  const auto names = versym ? version_names(all) : std::map<u16, std::string>();
  Elf64_Sym s;
  for (u64 i = 1; view.get(i * sizeof s, s); ++i) {
    Symbol symbol{text_at(strings, s.st_name),
                  {},
                  s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS,
                  ELF64_ST_TYPE(s.st_info) == STT_FUNC,
                  false};
    if (u16 version = 0; versions.get(i * 2, version)) {
      const auto it = names.find(version & 0x7fff);
      if (it != names.end()) symbol.version = it->second;
      symbol.hidden_version = (version & 0x8000) != 0;
    }
    out.push_back(std::move(symbol));
  }
}

const ElfFile::Section* ElfFile::section(std::string_view name) const {
  for (const Section& s : sections)
    if (s.name == name) return &s;
  return nullptr;
}

bool ElfFile::contains(std::string_view text) const {
  return std::search(file_.begin(), file_.end(), text.begin(), text.end()) != file_.end();
}

}  // namespace us::tools
