// SPDX-License-Identifier: Apache-2.0
#include "loader/object_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace us::loader {

// A file may be cut short or lie about itself: everything is checked against its size.
template <class T>
const T* ObjectFile::at(Elf64_Off offset, size_t n) const {
  if (offset > bytes_ || offset % alignof(T) != 0 || n > (bytes_ - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(file_ + offset);
}

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

void ObjectFile::find_symbols(Table table) {
  const auto* head = at<Elf64_Ehdr>(0);
  if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64) return;
  segments_ = at<Elf64_Phdr>(head->e_phoff, head->e_phnum);
  n_segments_ = segments_ ? head->e_phnum : 0;
  const auto* sections = at<Elf64_Shdr>(head->e_shoff, head->e_shnum);
  if (!sections || head->e_shoff == 0) return;
  for (size_t i = 0; i < head->e_shnum; ++i) {
    const Elf64_Shdr& s = sections[i];
    if (s.sh_type != static_cast<Elf64_Word>(table) || s.sh_link >= head->e_shnum) continue;
    const Elf64_Shdr& names = sections[s.sh_link];
    const char* text = at<char>(names.sh_offset, names.sh_size);
    if (!text || names.sh_size == 0 || text[names.sh_size - 1] != 0) return;
    symbols_ = at<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
    count_ = symbols_ ? s.sh_size / sizeof(Elf64_Sym) : 0;
    text_ = text;
    text_bytes_ = names.sh_size;
    return;
  }
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
