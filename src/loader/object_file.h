// SPDX-License-Identifier: Apache-2.0
// The file that an object of the process was loaded from, for the symbols that are not loaded with it.
#pragma once
#include <elf.h>
#include <link.h>

#include <cstddef>

namespace us::loader {

class ObjectFile {
 public:
  enum class Table : Elf64_Word { Whole = SHT_SYMTAB, Dynamic = SHT_DYNSYM };  // which symbols
  explicit ObjectFile(const char* path, Table = Table::Whole);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  bool has_symbols() const { return symbols_ != nullptr; }
  // Whether some name of a symbol contains the text.
  bool names(const char* text) const;
  bool matches(const link_map&) const;  // the object comes from this file, as far as its dynamic section tells

  // It holds kernels and registers them itself: a CUDA runtime is in it, whether or not symbols tell.
  bool registers_its_kernels() const;

  // f(name, symbol) for each function that is defined here.
  template <class F>
  void each_function(F&& f) const {
    for (size_t i = 0; i < count_; ++i) {
      const Elf64_Sym& s = symbols_[i];
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_name < text_bytes_)
        f(text_ + s.st_name, s);
    }
  }
  // The bytes that are loaded to this address (without the object's base), and the protection that they have then.
  const unsigned char* code(Elf64_Addr address, size_t bytes, int& protection) const;
  bool alone(const Elf64_Sym&, size_t bytes) const;  // no other function begins in its first bytes
  // f(bytes, n, address) for each segment of code, with the address that it is loaded to.
  template <class F>
  void each_code(F&& f) const {
    for (size_t i = 0; i < n_segments_; ++i) {
      const Elf64_Phdr& p = segments_[i];
      if (p.p_type != PT_LOAD || !(p.p_flags & PF_X)) continue;
      if (const auto* bytes = at<unsigned char>(p.p_offset, p.p_filesz)) f(bytes, p.p_filesz, p.p_vaddr);
    }
  }

 private:
  // A file may be cut short or lie about itself: everything is checked against its size.
  template <class T>
  const T* at(Elf64_Off offset, size_t n = 1) const {
    if (offset > bytes_ || offset % alignof(T) != 0 || n > (bytes_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(file_ + offset);
  }
  void find_symbols(Table);
  const Elf64_Shdr* sections(size_t& n) const;
  const char* text(const Elf64_Shdr&) const;  // a section of names, that ends

  const unsigned char* file_ = nullptr;
  size_t bytes_ = 0;
  const Elf64_Phdr* segments_ = nullptr;
  size_t n_segments_ = 0;
  const Elf64_Sym* symbols_ = nullptr;
  size_t count_ = 0;
  const char* text_ = nullptr;
  size_t text_bytes_ = 0;
};

}  // namespace us::loader
