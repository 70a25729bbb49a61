// SPDX-License-Identifier: Apache-2.0
#include "tools/sass_source.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "driver/code/assembler.h"
#include "tools/elf_file.h"
#include "tools/ptx_facts.h"

namespace us::tools {
namespace {

using Bytes = std::span<const u8>;
constexpr u64 kEmptyBelow = 64;  // a fat binary shorter than the header of an entry has none
constexpr std::size_t kMachineAt = 18;
constexpr u8 kCudaMachine = 190;

Diag problem(std::string text) { return {Diag::Kind::Error, {}, std::move(text)}; }
Bytes bytes_of(const std::string& s) { return {reinterpret_cast<const u8*>(s.data()), s.size()}; }

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

bool same_code(const sass::Code& a, const sass::Code& b) {
  if (a.functions.size() != b.functions.size()) return false;
  return std::ranges::all_of(a.functions, [&](const sass::Function& f) {
    const sass::Function* g = b.find(f.name);
    return g &&
           std::ranges::equal(f.instructions, g->instructions, {}, &sass::Instruction::word, &sass::Instruction::word);
  });
}

bool has_ptx_lines(const sass::Code& c) {
  return std::ranges::any_of(c.functions, [](auto& f) { return !f.ptx_lines.empty(); });
}

class Source {
 public:
  Source(ptx::Target target, const std::string& ptxas)
      : target_(target),
        ptxas_(ptxas.empty()     ? driver::Assembler::find()
               : ptxas == "none" ? ""
                                 : ptxas) {}

  SassImage of_cubin(std::string where, Bytes elf) const {
    SassImage out{.source = std::move(where)};
    auto code = sass::read_code(elf);
    if (!code) return out.problems = code.diags(), out;
    out.code = std::move(*code);
    out.ptx = out.code.ptx;
    if (!has_ptx_lines(out.code)) out.note = "the code has no table of PTX lines (ptxas -lineinfo)";
    return out;
  }

  SassImage of_ptx(std::string where, const ptx::Image& image) const {
    SassImage out{.origin = SassImage::Origin::Assembled, .source = std::move(where)};
    if (ptxas_.empty()) {
      out.problems = {problem("no machine code for the device, and no ptxas to make it (see --ptxas)")};
      return out;
    }
    const auto elf = driver::Assembler::machine_code(ptxas_, image, target_.sm);
    if (!elf) return out.problems = elf.diags(), out;
    auto code = sass::read_code(bytes_of(*elf));
    if (!code) return out.problems = code.diags(), out;
    out.code = std::move(*code);
    out.ptx = lines_in(image.ptx.c_str());
    out.note = "by " + ptxas_;
    return out;
  }

  SassImage of_fat_binary(const std::string& where, Bytes fatbin) const {
    const auto image = ptx::find_ptx(fatbin, target_);
    const std::vector<std::string> ready = ptx::find_machine_code(fatbin.data(), target_);
    if (ready.empty()) {
      if (image) return of_ptx(where, *image);
      return {.source = where, .problems = image.diags()};
    }
    SassImage shipped = of_cubin(where, bytes_of(ready.front()));
    if (!shipped.problems.empty() || has_ptx_lines(shipped.code) || !image || ptxas_.empty()) return shipped;
    SassImage ours = of_ptx(where, *image);
    if (!ours.problems.empty()) return shipped;
    if (!same_code(shipped.code, ours.code)) {
      shipped.note += fmt::format("; {} makes other code of its PTX", ptxas_);
      return shipped;
    }
    ours.origin = SassImage::Origin::ShippedRecompiled;
    return ours;
  }

 private:
  ptx::Target target_;
  std::string ptxas_;
};

void read_fat_binaries(const Source& source, const std::string& where, Bytes bytes, std::vector<SassImage>& out) {
  u32 number = 0;
  while (!bytes.empty()) {
    const u64 size = ptx::fat_binary_bytes(bytes);
    if (size >= kEmptyBelow)
      out.push_back(source.of_fat_binary(fmt::format("{} {}", where, ++number), bytes.first(size)));
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), size ? (size + 7) / 8 * 8 : 8));
  }
}

// Of several fat binaries, those without code for the device do not matter.
Result<std::vector<SassImage>> what_matters(const std::string& file, std::vector<SassImage> all) {
  if (all.empty()) return problem(fmt::format("{}: has no fat binary; was it compiled by nvcc?", file));
  const auto good = [](const SassImage& i) { return i.problems.empty(); };
  if (std::ranges::any_of(all, good)) std::erase_if(all, [](const SassImage& i) { return ptx::is_no_ptx(i.problems); });
  return all;
}

}  // namespace

std::string_view text_of(SassImage::Origin o) {
  constexpr std::string_view texts[] = {"as shipped", "as shipped, recompiled and equal", "assembled here"};
  return texts[static_cast<int>(o)];
}

Result<std::vector<SassImage>> read_sass(const std::string& file, ptx::Target target, const std::string& ptxas) {
  auto bytes = read_file(file);
  if (!bytes) return bytes.diags();
  const Source source(target, ptxas);
  std::vector<SassImage> out;
  if (ElfFile::is_elf(*bytes) && bytes->size() > kMachineAt && (*bytes)[kMachineAt] == kCudaMachine) {
    out.push_back(source.of_cubin(file, *bytes));
    return out;
  }
  if (ElfFile::is_elf(*bytes)) {
    const auto elf = ElfFile::open(file);
    if (!elf) return elf.diags();
    for (const ElfFile::Section& s : elf->sections)
      if (s.name == ".nv_fatbin" || s.name == "__nv_relfatbin")
        read_fat_binaries(source, fmt::format("{}: {}", file, s.name), s.bytes, out);
    return what_matters(file, std::move(out));
  }
  if (ptx::fat_binary_bytes(*bytes)) {
    read_fat_binaries(source, file, *bytes, out);
    return what_matters(file, std::move(out));
  }
  const auto texts = read_ptx(file, target);
  if (!texts) return texts.diags();
  for (const PtxText& t : *texts) {
    if (t.problems.empty())
      out.push_back(source.of_ptx(t.source, {.ptx = t.text, .arch = target.sm, .options = {}}));
    else
      out.push_back({.source = t.source, .problems = t.problems});
  }
  return out;
}

}  // namespace us::tools
