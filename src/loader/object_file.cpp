// SPDX-License-Identifier: Apache-2.0
#include "loader/object_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace us::loader {

ObjectFile::ObjectFile(const char* path, Table table) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat s;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
    void* const p = mmap(nullptr, static_cast<size_t>(s.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (p != MAP_FAILED) {
      file_ = static_cast<const unsigned char*>(p);
      bytes_ = static_cast<size_t>(s.st_size);
      find_symbols(table);
    }
  }
  close(file);
}

ObjectFile::~ObjectFile() {
  if (file_) munmap(const_cast<unsigned char*>(file_), bytes_);
}

const Elf64_Shdr* ObjectFile::sections(size_t& n) const {
  const auto* head = at<Elf64_Ehdr>(0);
  n = 0;
  if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64) return nullptr;
  const auto* first = head->e_shoff == 0 ? nullptr : at<Elf64_Shdr>(head->e_shoff, head->e_shnum);
  if (first) n = head->e_shnum;
  return first;
}

const char* ObjectFile::text(const Elf64_Shdr& names) const {
  const char* text = at<char>(names.sh_offset, names.sh_size);
  return text && names.sh_size != 0 && text[names.sh_size - 1] == 0 ? text : nullptr;
}

void ObjectFile::find_symbols(Table table) {
  size_t n = 0;
  const Elf64_Shdr* const all = sections(n);
  const auto* head = at<Elf64_Ehdr>(0);
  if (head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64) {
    segments_ = at<Elf64_Phdr>(head->e_phoff, head->e_phnum);
    n_segments_ = segments_ ? head->e_phnum : 0;
  }
  for (size_t i = 0; i < n; ++i) {
    const Elf64_Shdr& s = all[i];
    if (s.sh_type != static_cast<Elf64_Word>(table) || s.sh_link >= n) continue;
    text_ = text(all[s.sh_link]);
    if (!text_) return;
    symbols_ = at<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
    count_ = symbols_ ? s.sh_size / sizeof(Elf64_Sym) : 0;
    text_bytes_ = all[s.sh_link].sh_size;
    return;
  }
}

bool ObjectFile::registers_its_kernels() const {
  size_t n = 0;
  const Elf64_Shdr* const all = sections(n);
  const auto* head = at<Elf64_Ehdr>(0);
  if (!all || head->e_shstrndx >= n) return false;
  const Elf64_Shdr& name_section = all[head->e_shstrndx];
  const char* const section_names = text(name_section);
  bool has_kernels = false;
  for (size_t i = 0; section_names && i < n; ++i) {
    const Elf64_Shdr& s = all[i];
    has_kernels |= s.sh_name < name_section.sh_size && strcmp(section_names + s.sh_name, ".nvFatBinSegment") == 0;
    if (s.sh_type != SHT_DYNSYM || s.sh_link >= n) continue;
    // It has another's runtime do it.
    const char* const names = text(all[s.sh_link]);
    if (names && memmem(names, all[s.sh_link].sh_size, "__cudaRegisterFatBinary", 24)) return false;
  }
  return has_kernels;
}

bool ObjectFile::names(const char* text) const {
  return symbols_ && memmem(text_, text_bytes_, text, strlen(text)) != nullptr;
}

bool ObjectFile::matches(const link_map& object) const {
  for (size_t i = 0; i < n_segments_; ++i)
    if (segments_[i].p_type == PT_DYNAMIC)
      return object.l_addr + segments_[i].p_vaddr == reinterpret_cast<Elf64_Addr>(object.l_ld);
  return false;
}

const unsigned char* ObjectFile::code(Elf64_Addr address, size_t bytes, int& protection) const {
  for (size_t i = 0; i < n_segments_; ++i) {
    const Elf64_Phdr& p = segments_[i];
    if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr > p.p_filesz) continue;
    if (p.p_filesz - (address - p.p_vaddr) < bytes || !(p.p_flags & PF_X)) continue;
    protection = PROT_EXEC | (p.p_flags & PF_R ? PROT_READ : 0) | (p.p_flags & PF_W ? PROT_WRITE : 0);
    return at<unsigned char>(p.p_offset + (address - p.p_vaddr), bytes);
  }
  return nullptr;
}

bool ObjectFile::alone(const Elf64_Sym& one, size_t bytes) const {
  bool is = true;
  each_function([&](const char*, const Elf64_Sym& other) {
    if (other.st_value > one.st_value && other.st_value - one.st_value < bytes) is = false;
  });
  return is;
}

}  // namespace us::loader
