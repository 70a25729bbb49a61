// SPDX-License-Identifier: Apache-2.0
// Sections and symbols of a 64-bit ELF of device code. Every offset is checked before it is followed: what does not lie
// in the file does not exist.
#pragma once
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/types.h"

namespace us::sass {

class Elf {
 public:
  struct Section {
    std::string_view name;
    u32 type = 0, info = 0, link = 0;
    u64 size = 0;               // of memory; a section without bytes in the file has one too
    std::span<const u8> bytes;  // empty where the file has none
  };
  struct Symbol {
    std::string_view name;
    u8 type = 0, other = 0;
    u16 section = 0;
    u64 value = 0, size = 0;
  };
  struct Relocation {
    u64 offset = 0;  // in the section
    u32 symbol = 0;
    i64 addend = 0;
  };
  static constexpr u32 kNoBits = 8;
  static constexpr u8 kFunction = 2;

  static Result<Elf> read(std::span<const u8> file);  // refers to the file

  u16 machine = 0, type = 0;
  u8 abi = 0;
  u32 flags = 0;
  std::vector<Section> sections;
  std::vector<Symbol> symbols;  // by their index

  const Section* section(std::string_view name) const;
  u32 index_of(const Section&) const;
  std::vector<Relocation> relocations_of(const Section&) const;  // those whose symbol exists

 private:
  void read_symbols(std::span<const u8> table, std::span<const u8> names);
  std::unordered_map<std::string_view, u32> by_name_;
};

// Text that ends with a zero byte; empty if it does not end within the table.
std::string_view text_at(std::span<const u8> table, u64 at);

// A number at an offset; 0 where it does not fit in.
template <class T>
T number_at(std::span<const u8> s, u64 at) {
  T v{};
  if (at <= s.size() && s.size() - at >= sizeof v) __builtin_memcpy(&v, s.data() + at, sizeof v);
  return v;
}

}  // namespace us::sass
