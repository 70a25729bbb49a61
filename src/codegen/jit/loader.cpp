// SPDX-License-Identifier: Apache-2.0
#include "codegen/jit/loader.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <string_view>

namespace us::codegen {
namespace {

// Conversions that processors without the instruction call by name; a half or bfloat comes back in the low bits of
// xmm0.
_Float16 half_of_double(double x) { return static_cast<_Float16>(x); }
_Float16 half_of_float(float x) { return static_cast<_Float16>(x); }
float float_of_half(_Float16 x) { return static_cast<float>(x); }
_Float16 as_half(u16 bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return h;
}
_Float16 bfloat_of_float(float x) {
  u32 u;
  std::memcpy(&u, &x, 4);
  if ((u & 0x7fffffff) > 0x7f800000) return as_half(0x7fff);
  return as_half(static_cast<u16>((u + 0x7fff + ((u >> 16) & 1)) >> 16));
}
// Through a float rounded to odd, so that the second rounding sees what the first one dropped.
_Float16 bfloat_of_double(double x) {
  float f = static_cast<float>(x);
  u32 u;
  std::memcpy(&u, &f, 4);
  if (std::isfinite(f) && static_cast<double>(f) != x && !(u & 1)) {
    const bool too_big = std::fabs(static_cast<double>(f)) > std::fabs(x);
    u = too_big ? u - 1 : u + 1;
    std::memcpy(&f, &u, 4);
  }
  return bfloat_of_float(f);
}

// The only functions compiled code may call by name: what the back end expands operations to.
void* external(std::string_view name) {
  struct Row {
    std::string_view name;
    void* address;
  };
  static const Row rows[] = {
      {"memcpy", reinterpret_cast<void*>(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
      {"memset", reinterpret_cast<void*>(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))},
      {"memmove", reinterpret_cast<void*>(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
      {"__truncdfhf2", reinterpret_cast<void*>(&half_of_double)},
      {"__truncsfhf2", reinterpret_cast<void*>(&half_of_float)},
      {"__extendhfsf2", reinterpret_cast<void*>(&float_of_half)},
      {"__truncsfbf2", reinterpret_cast<void*>(&bfloat_of_float)},
      {"__truncdfbf2", reinterpret_cast<void*>(&bfloat_of_double)},
      {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&::fma))},
      {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&::fmaf))},
      {"floor", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::floor))},
      {"floorf", reinterpret_cast<void*>(static_cast<float (*)(float)>(&::floorf))},
      {"ceil", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::ceil))},
      {"ceilf", reinterpret_cast<void*>(static_cast<float (*)(float)>(&::ceilf))},
      {"trunc", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::trunc))},
      {"truncf", reinterpret_cast<void*>(static_cast<float (*)(float)>(&::truncf))},
  };
  for (const Row& r : rows)
    if (r.name == name) return r.address;
  return nullptr;
}

struct Elf {
  const std::vector<u8>& data;
  const Elf64_Ehdr* header = nullptr;
  const Elf64_Shdr* sections = nullptr;
  u32 count = 0;

  template <class T>
  const T* at(u64 offset, u64 n = 1) const {
    return offset <= data.size() && n * sizeof(T) <= data.size() - offset
               ? reinterpret_cast<const T*>(data.data() + offset)
               : nullptr;
  }
  bool parse() {
    header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_type != ET_REL) return false;
    count = header->e_shnum;
    sections = at<Elf64_Shdr>(header->e_shoff, count);
    if (!sections) return false;
    for (u32 k = 0; k < count; ++k)
      if (sections[k].sh_type != SHT_NOBITS && !at<u8>(sections[k].sh_offset, sections[k].sh_size)) return false;
    return true;
  }
};

constexpr std::size_t kStubBytes = 16;  // jmp *[rip+2]; address

}  // namespace

Result<std::unique_ptr<LoadedObject>> LoadedObject::load(const std::vector<u8>& bytes, const char* symbol) {
  Elf elf{bytes};
  auto bad = [](std::string what) { return Diag{Diag::Kind::Error, {}, "compiled object: " + std::move(what)}; };
  if (!elf.parse()) return bad("not a relocatable ELF file");
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // Sections that are loaded, one after another; stubs for external calls and a GOT at the end.
  std::vector<u64> place(elf.count, 0);
  u64 end = 0, externals = 0;
  for (u32 k = 0; k < elf.count; ++k) {
    const Elf64_Shdr& s = elf.sections[k];
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_size == 0) continue;
    const u64 align = std::max<u64>(s.sh_addralign, 1);
    end = (end + align - 1) / align * align;
    place[k] = end;
    end += s.sh_size;
  }
  for (u32 k = 0; k < elf.count; ++k)
    if (elf.sections[k].sh_type == SHT_SYMTAB) externals += elf.sections[k].sh_size / sizeof(Elf64_Sym);
  const u64 stubs = (end + 63) / 64 * 64;
  auto object = std::unique_ptr<LoadedObject>(new LoadedObject);
  object->size_ = (stubs + externals * (kStubBytes + 8) + page) / page * page;
  void* memory = mmap(nullptr, object->size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return bad("no memory");
  object->base_ = memory;
  u8* base = static_cast<u8*>(memory);
  for (u32 k = 0; k < elf.count; ++k) {
    const Elf64_Shdr& s = elf.sections[k];
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_size == 0) continue;
    if (s.sh_type != SHT_NOBITS) std::memcpy(base + place[k], bytes.data() + s.sh_offset, s.sh_size);
    if ((s.sh_flags & SHF_EXECINSTR) && !object->text_) {
      object->text_ = base + place[k];
      object->text_size_ = s.sh_size;
    }
  }
  u64 next_stub = stubs;
  for (u32 k = 0; k < elf.count; ++k) {
    const Elf64_Shdr& rel = elf.sections[k];
    if (rel.sh_type == SHT_SYMTAB) {
      const auto* syms = elf.at<Elf64_Sym>(rel.sh_offset, rel.sh_size / sizeof(Elf64_Sym));
      const char* names = reinterpret_cast<const char*>(bytes.data() + elf.sections[rel.sh_link].sh_offset);
      for (u64 i = 0; i < rel.sh_size / sizeof(Elf64_Sym); ++i)
        if (syms[i].st_shndx < elf.count && syms[i].st_shndx && std::strcmp(names + syms[i].st_name, symbol) == 0)
          object->entry_ = base + place[syms[i].st_shndx] + syms[i].st_value;
    }
    if (rel.sh_type != SHT_RELA || !(elf.sections[rel.sh_info].sh_flags & SHF_ALLOC)) continue;
    const auto* list = elf.at<Elf64_Rela>(rel.sh_offset, rel.sh_size / sizeof(Elf64_Rela));
    const Elf64_Shdr& symtab = elf.sections[rel.sh_link];
    const auto* syms = elf.at<Elf64_Sym>(symtab.sh_offset, symtab.sh_size / sizeof(Elf64_Sym));
    const char* names = reinterpret_cast<const char*>(bytes.data() + elf.sections[symtab.sh_link].sh_offset);
    for (u64 i = 0; i < rel.sh_size / sizeof(Elf64_Rela); ++i) {
      const Elf64_Rela& r = list[i];
      const Elf64_Sym& s = syms[ELF64_R_SYM(r.r_info)];
      u8* where = base + place[rel.sh_info] + r.r_offset;
      const u32 type = ELF64_R_TYPE(r.r_info);
      u64 value = 0;
      if (s.st_shndx != SHN_UNDEF && s.st_shndx < elf.count) {
        value = reinterpret_cast<u64>(base) + place[s.st_shndx] + s.st_value;
      } else {
        void* target = external(names + s.st_name);
        if (!target) return bad(fmt::format("unresolved symbol {}", names + s.st_name));
        u8* stub = base + next_stub;
        const u8 jump[6] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00};
        std::memcpy(stub, jump, 6);
        std::memcpy(stub + 8, &target, 8);
        next_stub += kStubBytes;
        value = reinterpret_cast<u64>(stub);
      }
      const u64 pc = reinterpret_cast<u64>(where);
      switch (type) {
        case R_X86_64_64: {
          const u64 v = value + static_cast<u64>(r.r_addend);
          std::memcpy(where, &v, 8);
          break;
        }
        case R_X86_64_PC32:
        case R_X86_64_PLT32: {
          const i64 v = static_cast<i64>(value + static_cast<u64>(r.r_addend) - pc);
          const i32 v32 = static_cast<i32>(v);
          if (v32 != v) return bad("relocation out of range");
          std::memcpy(where, &v32, 4);
          break;
        }
        case R_X86_64_PC64: {
          const u64 v = value + static_cast<u64>(r.r_addend) - pc;
          std::memcpy(where, &v, 8);
          break;
        }
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: {
          u8* slot = base + object->size_ - externals * 8 + ELF64_R_SYM(r.r_info) * 8;
          std::memcpy(slot, &value, 8);
          const i32 v = static_cast<i32>(reinterpret_cast<u64>(slot) + static_cast<u64>(r.r_addend) - pc);
          std::memcpy(where, &v, 4);
          break;
        }
        default:
          return bad(fmt::format("relocation type {}", type));
      }
      if (next_stub > object->size_ - externals * 8) return bad("too many external calls");
    }
  }
  if (!object->entry_) return bad(fmt::format("no symbol {}", symbol));
  if (mprotect(memory, object->size_, PROT_READ | PROT_EXEC) != 0) return bad("cannot make memory executable");
  return object;
}

LoadedObject::~LoadedObject() {
  if (base_) munmap(base_, size_);
}

}  // namespace us::codegen
