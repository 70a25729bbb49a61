// SPDX-License-Identifier: Apache-2.0
#include "base/runtime_archive.h"

#include <ar.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace us {

// A file may be cut short or lie about itself: everything is checked against its size.
template <class T>
const T* RuntimeArchive::at(Elf64_Off offset, size_t n) const {
  if (offset > bytes_ || offset % alignof(T) != 0 || n > (bytes_ - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(object_ + offset);
}

RuntimeArchive::RuntimeArchive(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat s;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > SARMAG) {
    const auto size = static_cast<size_t>(s.st_size);
    void* const p = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (p != MAP_FAILED) {
      take_member(static_cast<const unsigned char*>(p), size);
      munmap(p, size);
    }
  }
  close(file);
  if (object_ && !(read_sections() && prepare())) code_ = nullptr;
}

RuntimeArchive::~RuntimeArchive() {
  if (object_) munmap(object_, bytes_);
}

// The first member that is an object file.
void RuntimeArchive::take_member(const unsigned char* archive, size_t bytes) {
  if (memcmp(archive, ARMAG, SARMAG) != 0) return;
  for (size_t at = SARMAG; at <= bytes && bytes - at > sizeof(ar_hdr);) {
    ar_hdr head;
    memcpy(&head, archive + at, sizeof head);
    char digits[sizeof head.ar_size + 1] = {};
    memcpy(digits, head.ar_size, sizeof head.ar_size);
    const size_t size = strtoul(digits, nullptr, 10);
    at += sizeof head;
    if (size > bytes - at) return;
    if (size > sizeof(Elf64_Ehdr) && memcmp(archive + at, ELFMAG, SELFMAG) == 0) {
      void* const copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (copy == MAP_FAILED) return;
      memcpy(copy, archive + at, size);
      object_ = static_cast<unsigned char*>(copy);
      bytes_ = size;
      return;
    }
    at += size + size % 2;
  }
}

bool RuntimeArchive::read_sections() {
  const auto* head = at<Elf64_Ehdr>(0, 1);
  if (!head || head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_type != ET_REL) return false;
  const auto* sections = at<Elf64_Shdr>(head->e_shoff, head->e_shnum);
  if (!sections || head->e_shstrndx >= head->e_shnum) return false;
  const auto text = [&](const Elf64_Shdr& s) -> const char* {
    const char* p = at<char>(s.sh_offset, s.sh_size);
    return p && s.sh_size != 0 && p[s.sh_size - 1] == 0 ? p : nullptr;
  };
  const Elf64_Shdr& name_section = sections[head->e_shstrndx];
  const char* const section_names = text(name_section);
  if (!section_names) return false;
  for (unsigned i = 0; i < head->e_shnum; ++i) {
    const Elf64_Shdr& s = sections[i];
    if (s.sh_name >= name_section.sh_size || strcmp(section_names + s.sh_name, ".text") != 0) continue;
    code_ = at<unsigned char>(s.sh_offset, s.sh_size);
    code_bytes_ = s.sh_size;
    code_section_ = i;
  }
  for (unsigned i = 0; code_ && i < head->e_shnum; ++i) {
    const Elf64_Shdr& s = sections[i];
    if (s.sh_type == SHT_RELA && s.sh_info == code_section_) {
      relocations_ = at<Elf64_Rela>(s.sh_offset, s.sh_size / sizeof(Elf64_Rela));
      n_relocations_ = relocations_ ? s.sh_size / sizeof(Elf64_Rela) : 0;
    } else if (s.sh_type == SHT_SYMTAB && s.sh_link < head->e_shnum) {
      names_ = text(sections[s.sh_link]);
      names_bytes_ = names_ ? sections[s.sh_link].sh_size : 0;
      symbols_ = at<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
      n_symbols_ = symbols_ && names_ ? s.sh_size / sizeof(Elf64_Sym) : 0;
    }
  }
  return code_ && n_relocations_ != 0 && n_symbols_ != 0;
}

// What a linker may write: the address, and the instruction around it where it knows a shorter way.
RuntimeArchive::Gap RuntimeArchive::gap(size_t relocation) const {
  const Elf64_Rela& r = relocations_[relocation];
  size_t before = 0, behind = 4;
  switch (ELF64_R_TYPE(r.r_info)) {
    case R_X86_64_64:
    case R_X86_64_PC64:
    case R_X86_64_GOTOFF64:
      behind = 8;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      before = 3;
      break;
    case R_X86_64_TLSGD:
    case R_X86_64_TLSLD:
    case R_X86_64_GOTTPOFF:
      before = 4, behind = 12;
      break;
    default:
      break;
  }
  const size_t place = r.r_offset;
  return {place < before ? 0 : place - before, place + behind};
}

bool RuntimeArchive::prepare() {
  size_t known = 0;  // the end of the gaps so far
  for (size_t i = 0; i <= n_relocations_; ++i) {
    if (i < n_relocations_ && relocations_[i].r_offset >= code_bytes_) return false;
    if (i > 0 && i < n_relocations_ && relocations_[i].r_offset < relocations_[i - 1].r_offset) return false;
    const Gap g = i < n_relocations_ ? gap(i) : Gap{code_bytes_, code_bytes_};
    if (g.begin > known && g.begin - known > needle_.end - needle_.begin) needle_ = {known, g.begin};
    if (g.end > known) known = g.end;
  }
  return needle_.end - needle_.begin >= 64;
}

bool RuntimeArchive::is_here(const unsigned char* code) const {
  size_t known = 0;
  for (size_t i = 0; i <= n_relocations_; ++i) {
    const Gap g = i < n_relocations_ ? gap(i) : Gap{code_bytes_, code_bytes_};
    if (g.begin > known && memcmp(code + known, code_ + known, g.begin - known) != 0) return false;
    if (g.end > known) known = g.end;
  }
  return true;
}

size_t RuntimeArchive::find_in(const unsigned char* code, size_t bytes) const {
  if (!code_ || bytes < code_bytes_) return kNowhere;
  const size_t length = needle_.end - needle_.begin;
  for (size_t from = needle_.begin, last = bytes - code_bytes_ + needle_.begin; from <= last;) {
    const void* const hit = memmem(code + from, last + length - from, code_ + needle_.begin, length);
    if (!hit) return kNowhere;
    const auto place = static_cast<size_t>(static_cast<const unsigned char*>(hit) - code);
    if (is_here(code + (place - needle_.begin))) return place - needle_.begin;
    from = place + 1;
  }
  return kNowhere;
}

}  // namespace us
