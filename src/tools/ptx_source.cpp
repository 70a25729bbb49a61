// SPDX-License-Identifier: Apache-2.0
// Finds the PTX in a file: the file itself, or what the fat binaries in it carry for a device.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "ptx/entries.h"
#include "ptx/ptx.h"
#include "sass/cubin.h"
#include "tools/elf_file.h"
#include "tools/ptx_facts.h"

namespace us::tools {
namespace {

using Bytes = std::span<const u8>;
constexpr u64 kEmptyBelow = 64;  // a fat binary shorter than the header of an entry has none
constexpr std::string_view kRelocatable = "__nv_relfatbin";

Diag problem(std::string text) { return {Diag::Kind::Error, {}, std::move(text)}; }

bool looks_like_text(Bytes bytes) {
  const auto head = bytes.first(std::min<std::size_t>(bytes.size(), 4096));
  return !head.empty() && std::none_of(head.begin(), head.end(), [](u8 c) { return c < 9; });
}

// The length of the fat binary that starts here; 0 if none does.
u64 fat_binary_at(Bytes bytes) {
  constexpr std::size_t kHeader = 16;
  if (bytes.size() < kHeader || ptx::container_of(bytes.data()) != ptx::Container::FatBinary) return 0;
  u64 payload;
  std::memcpy(&payload, bytes.data() + 8, sizeof payload);
  return payload <= bytes.size() - kHeader ? kHeader + payload : 0;
}

// Sections hold one fat binary behind the other, each aligned to 8 bytes.
void read_section(const std::string& where, Bytes bytes, ptx::Target target, std::vector<PtxText>& out) {
  u32 number = 0;
  while (!bytes.empty()) {
    const u64 size = fat_binary_at(bytes);
    if (size >= kEmptyBelow) {
      PtxText text{fmt::format("{} {}", where, ++number), {}, {}};
      auto image = ptx::find_ptx(bytes.first(size), target);
      if (image)
        text.text = std::move(image->ptx);
      else
        text.problems = image.diags();
      out.push_back(std::move(text));
    }
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), size ? (size + 7) / 8 * 8 : 8));
  }
}

// Programs also carry fat binaries without PTX: empty ones, and machine code of the device runtime library.
void keep_what_matters(std::vector<PtxText>& texts) {
  const auto has_ptx = [](const PtxText& t) { return t.problems.empty(); };
  if (std::any_of(texts.begin(), texts.end(), has_ptx))
    std::erase_if(texts, [](const PtxText& t) { return ptx::is_no_ptx(t.problems); });
}

void add_kernels_of_ptx(const std::string& text, std::set<std::string, std::less<>>& out) {
  const auto m = ptx::parse(text, "PTX");
  if (!m) return;
  for (const ir::Function& f : (*m)->functions)
    if (f.entry && f.defined) out.insert(f.name);
}

void look_into(Bytes fatbin, ptx::Target target, CodeImage& image, std::set<std::string, std::less<>>& of_parts) {
  if (const auto own = ptx::find_ptx(fatbin, target)) {
    image.fit = CodeImage::Fit::Runs;
    if (image.linked_from) add_kernels_of_ptx(own->ptx, of_parts);
    return;
  }
  if (const auto newer = ptx::find_newer_ptx(fatbin, target)) {
    image.fit = CodeImage::Fit::Newer;
    if (image.linked_from) add_kernels_of_ptx(newer->ptx, of_parts);
    return;
  }
  for (const std::string& elf : ptx::find_machine_code(fatbin.data(), target))
    if (const auto cubin = sass::read_cubin({reinterpret_cast<const u8*>(elf.data()), elf.size()}))
      for (const sass::KernelFacts& k : cubin->kernels) image.kernels.push_back(k.name);
}

Result<std::vector<PtxText>> read_elf(const std::string& file, ptx::Target target) {
  const auto elf = ElfFile::open(file);
  if (!elf) return elf.diags();
  std::vector<PtxText> out;
  for (const ElfFile::Section& s : elf->sections)  // the second holds relocatable device code (nvcc -rdc=true)
    if (s.name == ".nv_fatbin" || s.name == kRelocatable)
      read_section(fmt::format("{}: {}", file, s.name), s.bytes, target, out);
  if (out.empty()) return problem(fmt::format("{}: has no fat binary; was it compiled by nvcc?", file));
  keep_what_matters(out);
  return out;
}

}  // namespace

std::vector<CodeImage> code_in(const ElfFile& elf, ptx::Target target) {
  std::vector<CodeImage> out;
  std::set<std::string, std::less<>> of_parts;  // kernels in PTX of what was linked
  for (const ElfFile::Section& s : elf.sections) {
    const bool linked_from = s.name == kRelocatable;
    if (s.name != ".nv_fatbin" && !linked_from) continue;
    for (Bytes bytes = s.bytes; !bytes.empty();) {
      const u64 size = fat_binary_at(bytes);
      if (size >= kEmptyBelow)
        if (auto entries = ptx::list_entries(bytes.first(size)); entries && !entries->empty()) {
          out.push_back({.entries = std::move(*entries), .linked_from = linked_from});
          look_into(bytes.first(size), target, out.back(), of_parts);
        }
      bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), size ? (size + 7) / 8 * 8 : 8));
    }
  }
  for (CodeImage& i : out)
    if (i.fit == CodeImage::Fit::None && !i.linked_from)
      std::ranges::copy_if(i.kernels, std::back_inserter(i.without_ptx),
                           [&](const std::string& kernel) { return !of_parts.contains(kernel); });
  return out;
}

Result<std::vector<PtxText>> read_ptx(const std::string& file, ptx::Target target) {
  auto bytes = read_file(file);
  if (!bytes) return bytes.diags();
  if (ElfFile::is_elf(*bytes)) return read_elf(file, target);
  std::vector<PtxText> out;
  if (fat_binary_at(*bytes))
    read_section(file, *bytes, target, out);
  else if (looks_like_text(*bytes))
    out.push_back({file, {bytes->begin(), bytes->end()}, {}});
  else
    return problem(
        fmt::format("{}: expected PTX text, a fat binary, or an executable or library that contains one", file));
  return out;
}

}  // namespace us::tools
