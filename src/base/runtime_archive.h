// SPDX-License-Identifier: Apache-2.0
// libcudart_static.a, from which nvcc links the CUDA runtime into programs, and where a program has it.
//
// The archive is one object file with one section of code. A linker copies that section as a whole and writes addresses
// into it, so a program that was linked from this very archive has the same bytes everywhere else. Where the section
// stands tells where each of its functions is, also in a program without symbol table.
//
// It needs the C library only, and allocates nothing but pages: the audit library (loader/) has it, too.
#pragma once
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include <cstddef>

namespace us {

class RuntimeArchive {
 public:
  explicit RuntimeArchive(const char* path);  // of a file that is no such archive nothing is found anywhere
  ~RuntimeArchive();
  RuntimeArchive(const RuntimeArchive&) = delete;
  RuntimeArchive& operator=(const RuntimeArchive&) = delete;

  static constexpr size_t kNowhere = ~size_t{0};
  // Where in these bytes the archive's code begins.
  size_t find_in(const unsigned char* code, size_t bytes) const;

  // f(name, symbol) for each function, whose value is its place in the archive's code.
  template <class F>
  void each_function(F&& f) const {
    for (size_t i = 0; i < n_symbols_; ++i) {
      const Elf64_Sym& s = symbols_[i];
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx == code_section_ && s.st_name < names_bytes_)
        f(names_ + s.st_name, s);
    }
  }

 private:
  struct Gap {
    size_t begin, end;
  };
  template <class T>
  const T* at(Elf64_Off offset, size_t n) const;
  void take_member(const unsigned char* archive, size_t bytes);
  bool read_sections();
  Gap gap(size_t relocation) const;
  bool prepare();
  bool is_here(const unsigned char* code) const;

  unsigned char* object_ = nullptr;  // the member, copied, so that it is aligned
  size_t bytes_ = 0;
  const unsigned char* code_ = nullptr;
  size_t code_bytes_ = 0;
  unsigned code_section_ = 0;
  const Elf64_Rela* relocations_ = nullptr;  // by place
  size_t n_relocations_ = 0;
  const Elf64_Sym* symbols_ = nullptr;
  size_t n_symbols_ = 0;
  const char* names_ = nullptr;
  size_t names_bytes_ = 0;
  Gap needle_ = {};  // the longest stretch without addresses
};

// Calls f(path) for each place where the archive that `file` was linked from may be, until it says true: what `named`
// says (files, with colons between them; "none": nowhere), packages of Python that lie beside the file, the toolkits.
template <class F>
bool each_runtime_archive(const char* named, const char* file, const char* const* toolkits, F&& f) {
  char path[4096];
  if (named && *named) {
    if (strcmp(named, "none") == 0) return false;
    for (const char* from = named; *from;) {
      const size_t n = strcspn(from, ":");
      snprintf(path, sizeof path, "%.*s", static_cast<int>(n), from);
      if (n && f(static_cast<const char*>(path))) return true;
      from += n + (from[n] == ':');
    }
    return false;
  }
  for (const char* end = strrchr(file, '/'); end && end > file;) {
    const auto directory = static_cast<int>(end - file);
    for (const char* package : {"nvidia/cu13", "nvidia/cu12", "nvidia/cuda_runtime"}) {
      snprintf(path, sizeof path, "%.*s/%s/lib/libcudart_static.a", directory, file, package);
      if (f(static_cast<const char*>(path))) return true;
    }
    do --end;
    while (end > file && *end != '/');
  }
  for (; *toolkits; ++toolkits) {
    if (!**toolkits) continue;
    snprintf(path, sizeof path, "%s/lib64/libcudart_static.a", *toolkits);
    if (f(static_cast<const char*>(path))) return true;
  }
  for (int version = 139; version >= 120; --version) {
    snprintf(path, sizeof path, "/usr/local/cuda-%d.%d/lib64/libcudart_static.a", version / 10, version % 10);
    if (f(static_cast<const char*>(path))) return true;
  }
  return f("/usr/lib/x86_64-linux-gnu/libcudart_static.a");
}

}  // namespace us
