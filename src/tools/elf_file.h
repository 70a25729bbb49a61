// SPDX-License-Identifier: Apache-2.0
// What the tools need to know about a 64-bit x86 ELF file: what it asks of the loader, its sections and its symbols.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace us::tools {

class ElfFile {
 public:
  struct Section {
    std::string name;
    std::span<const u8> bytes;
  };
  struct Symbol {
    std::string name;
    std::string version;  // "libcudart.so.13"; empty if the symbol has none
    bool defined = false, function = false, hidden_version = false;
  };

  static Result<ElfFile> open(const std::string& path);  // says why not: missing, no ELF, another machine
  static bool is_elf(std::span<const u8> bytes);

  std::vector<std::string> needed;  // DT_NEEDED
  std::string soname, rpath, runpath;
  std::vector<Section> sections;
  std::vector<Symbol> dynamic_symbols, symbols;
  bool executable_or_library = false;

  const Section* section(std::string_view name) const;
  bool contains(std::string_view text) const;  // anywhere in the file
  std::span<const u8> bytes() const { return file_; }

 private:
  bool read();
  void read_dynamic();
  void read_symbols(u32 type, std::vector<Symbol>& out);
  std::vector<u8> file_;
};

Result<std::vector<u8>> read_file(const std::string& path);

}  // namespace us::tools
