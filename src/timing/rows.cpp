// SPDX-License-Identifier: Apache-2.0
#include "timing/rows.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace us::timing {
namespace {

struct PipeRow {
  std::string_view names;
  Row::Kind kind;
  Pipe pipe;
  float interval, latency;
};
constexpr PipeRow kPipeRows[] = {
#define US_PIPE(names, kind, pipe, interval, latency) {names, Row::Kind::kind, Pipe::pipe, interval, latency},
#include "timing/pipes.inc"
#undef US_PIPE
};

// A word of names ends where the name does, or at a point of it; the last rows are beginnings.
bool fits(std::string_view names, std::string_view name) {
  if (names.empty()) return true;
  for (std::string_view rest = names; !rest.empty();) {
    const auto space = rest.find(' ');
    const std::string_view word = rest.substr(0, space);
    if (name.starts_with(word) && (word == "U" || name.size() == word.size() || name[word.size()] == '.')) return true;
    rest = space == rest.npos ? "" : rest.substr(space + 1);
  }
  return false;
}

u32 number_in(std::string_view text) {
  u32 n = 0;
  if (text.starts_with("0x"))
    std::from_chars(text.data() + 2, text.data() + text.size(), n, 16);
  else
    std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// The k-th operand, if it is a number; else `otherwise`.
u32 operand(const sass::Instruction& i, u32 k, u32 otherwise) {
  std::string_view rest = i.operands;
  for (; k && !rest.empty(); --k) {
    const auto comma = rest.find(',');
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
  }
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return !rest.empty() && rest[0] >= '0' && rest[0] <= '9' ? number_in(rest) : otherwise;
}

bool has(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

// "[R1+0x10]": 16. R1 is the frame's beginning.
i32 frame_offset(std::string_view operands) {
  const auto at = operands.find("[R1");
  if (at == operands.npos) return -1;
  const std::string_view rest = operands.substr(at + 3);
  if (rest.starts_with("]")) return 0;
  return rest.starts_with("+0x") ? static_cast<i32>(number_in(rest.substr(1))) : -1;
}

// "HGMMA.64x128x16.F32": the columns.
u32 columns_of(std::string_view name) {
  const auto at = name.find(".64x");
  return at == name.npos ? 8 : number_in(name.substr(at + 4));
}

u8 words_of(const sass::Instruction& i) {
  const std::string_view name = i.name;
  if (has(name, "LDSM") || has(name, "STSM")) return has(name, ".4") ? 4 : has(name, ".2") ? 2 : 1;
  return static_cast<u8>(std::clamp<u32>(i.memory.bytes / 4, 1, 4));
}

// Registers lie in two banks, each of which gives one a cycle; what the operand cache holds is not read again, nor is
// one that is several operands.
void count_reads(const sass::Instruction& i, Row& r) {
  u32 slot = 0;
  for (const sass::Access& a : i.reads) {
    if (a.bank != sass::Bank::Register) continue;
    const bool kept = i.control.reuse >> slot & 1;
    ++slot;
    const auto same = [&](const sass::Access& b) { return b.bank == a.bank && b.first == a.first; };
    if (kept || &*std::ranges::find_if(i.reads, same) != &a) continue;
    for (u32 k = 0; k < a.count; ++k) ++r.reads[(a.first + k) % 2];
  }
}

}  // namespace

Row row_of(const sass::Instruction& i, const Parameters& p) {
  const auto& found = *std::ranges::find_if(kPipeRows, [&](const PipeRow& row) { return fits(row.names, i.name); });
  Row r{found.kind, found.pipe, found.interval, found.latency, i.control};
  r.never = i.guard.never();
  r.words = words_of(i);
  r.constant = has(i.operands, "c[");
  r.twice = has(i.name, "IMAD.WIDE") || has(i.name, "IMAD.HI");
  r.swaps = has(i.name, ".CAS"), r.spins = has(i.name, ".CAST.SPIN"), r.counts = has(i.name, ".POPC.INC");
  r.floats = has(i.name, ".F32") || has(i.name, ".F64") || has(i.name, ".F16");
  r.bypass = has(i.name, ".STRONG") || has(i.name, ".BYPASS") || has(i.name, ".MMIO");
  r.local = i.memory.space == sass::Memory::Space::Local;
  if (r.local) r.frame = frame_offset(i.operands);
  using Kind = Row::Kind;
  switch (r.kind) {
    case Kind::Matrix:
      if (found.interval == 0) {
        const u32 columns = columns_of(i.name);
        r.interval = static_cast<float>(std::max(p.gmma_least, columns / 2.0));
        r.latency = static_cast<float>(p.gmma_latency + columns / 2.0);
      } else {
        r.kind = Kind::Plain;
        count_reads(i, r);
      }
      break;
    case Kind::SharedLoad:
      r.latency += static_cast<float>(p.shared_wide * (r.words - 1) / (has(i.name, "LDSM") ? 1.5 : 1));
      break;
    case Kind::Sleep:  // until a bit of a clock changes that is above those of the literal; 32 ns at least
      if (const u32 least = 16, ns = operand(i, 0, 0); ns)
        r.latency = static_cast<float>(std::bit_floor(u64{std::max(ns, least)}) * 2 * p.sm_clock);
      break;
    case Kind::AwaitMatrix:
    case Kind::AwaitCopies:
      r.number = static_cast<u16>(operand(i, 1, 0));
      if (r.kind == Kind::AwaitCopies && !has(i.name, ".LE")) r.kind = Kind::Plain;
      break;
    case Kind::Barrier:
    case Kind::Arrive:
      r.number = static_cast<u16>(operand(i, 0, 0));
      r.count = static_cast<u16>(operand(i, 1, 0));
      break;
    case Kind::Fence:
      r.latency = static_cast<float>(has(i.name, ".SYS")                             ? p.fence_system
                                     : has(i.name, "MEMBAR") && has(i.name, ".GPU")  ? p.fence_gpu
                                     : has(i.name, "MEMBAR") && !has(i.name, ".CTA") ? p.fence_gpu
                                                                                     : p.fence_cta);
      if (!has(i.name, "MEMBAR")) r.latency = static_cast<float>(p.fence_cta / 2);
      break;
    case Kind::Plain:
      if (r.pipe != Pipe::None && r.pipe != Pipe::Uniform && r.pipe != Pipe::Memory) count_reads(i, r);
      break;
    default:
      break;
  }
  return r;
}

std::vector<Row> rows_of(const sass::Function& f, const Parameters& p) {
  std::vector<Row> rows;
  rows.reserve(f.instructions.size());
  for (const sass::Instruction& i : f.instructions) rows.push_back(row_of(i, p));
  return rows;
}

}  // namespace us::timing
