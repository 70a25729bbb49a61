// SPDX-License-Identifier: Apache-2.0
// A cubin is an ELF file. Its kernels are function symbols marked as entries; what belongs to a kernel stands in
// sections whose names end in its name:
//   .nv.info             attributes of functions: symbol and value      .nv.shared.KERNEL    size: shared memory
//   .nv.info.KERNEL      attributes of this kernel                      .nv.constant3        constant variables of all
//   .text.KERNEL         its code; up to ABI 7 registers are in sh_info
//   attribute: |format u8|code u8| 1: nothing u16 | 2: value u8, pad u8 | 3: value u16 | 4: size u16, then its bytes|
#include "sass/cubin.h"

#include <algorithm>

#include "sass/elf.h"

namespace us::sass {
namespace {

constexpr u16 kCudaMachine = 190, kRelocatable = 1;
constexpr u8 kEntry = 0x10;            // in a symbol's st_other
constexpr u8 kNewAbi = 8;              // flags hold the architecture elsewhere, sh_info no registers
constexpr u32 kReservedShared = 1024;  // the system's part of every block, from sm_80 on
constexpr u32 kFirstWithReserved = 80;
constexpr u8 kValues = 4;  // the format that carries bytes
constexpr u8 kMaxThreads = 0x05, kRequiredThreads = 0x10, kFrameSize = 0x11, kMinStackSize = 0x12, kRegisters = 0x2f;

template <class Visit>  // visit(code, bytes)
void each_attribute(const Elf::Section* s, Visit visit) {
  if (!s) return;
  for (u64 at = 0; at + 4 <= s->bytes.size();) {
    const u8 format = s->bytes[at], code = s->bytes[at + 1];
    const u64 bytes = format == kValues ? number_at<u16>(s->bytes, at + 2) : 0;
    at += 4;
    if (bytes > s->bytes.size() - at) return;
    if (format == kValues) visit(code, s->bytes.subspan(at, bytes));
    at += bytes;
  }
}

u32 product(std::span<const u8> three) {
  u64 v = 1;
  for (u64 at = 0; at < 12; at += 4) v *= std::clamp(number_at<u32>(three, at), 1u, 65536u);
  return static_cast<u32>(std::min<u64>(v, ~0u));
}

struct PerSymbol {
  std::vector<u32> registers, frame, stack;
};

PerSymbol per_symbol(const Elf& elf) {
  PerSymbol out;
  for (auto* v : {&out.registers, &out.frame, &out.stack}) v->resize(elf.symbols.size());
  each_attribute(elf.section(".nv.info"), [&](u8 code, std::span<const u8> bytes) {
    const u32 symbol = number_at<u32>(bytes, 0), value = number_at<u32>(bytes, 4);
    if (bytes.size() < 8 || symbol >= elf.symbols.size()) return;
    if (code == kRegisters) out.registers[symbol] = value;
    if (code == kFrameSize) out.frame[symbol] = value;
    if (code == kMinStackSize && value != ~0u) out.stack[symbol] = value;
  });
  return out;
}

u32 shared_of(const Elf& elf, const std::string& kernel, u32 sm) {
  const Elf::Section* s = elf.section(".nv.shared." + kernel);
  const u64 reserved = sm >= kFirstWithReserved ? kReservedShared : 0;
  return !s || s->size <= reserved ? 0 : static_cast<u32>(std::min<u64>(s->size - reserved, ~0u));
}

// |bytes of name u32|bytes of text u32|type u32|name|version u16|architecture of the PTX u16|..
u32 ptx_of(const Elf& elf) {
  const Elf::Section* s = elf.section(".note.nv.cuinfo");
  const u32 from_note = s ? number_at<u16>(s->bytes, 12 + (u64{number_at<u32>(s->bytes, 0)} + 3) / 4 * 4 + 2) : 0;
  if (from_note) return from_note;
  return elf.abi < kNewAbi ? elf.flags >> 16 & 0xff : 0;
}

}  // namespace

const KernelFacts* Cubin::find(std::string_view name) const {
  const auto it = std::ranges::find(kernels, name, &KernelFacts::name);
  return it == kernels.end() ? nullptr : &*it;
}

Result<Cubin> read_cubin(std::span<const u8> file) {
  const Result<Elf> elf = Elf::read(file);
  if (!elf) return elf.diags();
  if (elf->machine != kCudaMachine) return Diag{Diag::Kind::Error, {}, "this ELF is no device code"};
  Cubin out;
  out.sm = elf->abi < kNewAbi ? elf->flags & 0xff : elf->flags >> 8 & 0xff;
  out.linked = elf->type != kRelocatable;
  out.ptx_sm = ptx_of(*elf);
  if (const Elf::Section* s = elf->section(".nv.constant3")) out.constant_bytes = s->size;
  const PerSymbol values = per_symbol(*elf);
  for (std::size_t i = 0; i < elf->symbols.size(); ++i) {
    const Elf::Symbol& s = elf->symbols[i];
    if (s.type != Elf::kFunction || !(s.other & kEntry) || s.name.empty()) continue;
    KernelFacts k{.name = std::string(s.name), .registers = values.registers[i]};
    const Elf::Section* text = elf->section(".text." + k.name);
    if (!text) continue;
    if (!k.registers && elf->abi < kNewAbi) k.registers = text->info >> 24;
    k.frame_bytes = values.frame[i];
    k.stack_bytes = std::max(values.stack[i], k.frame_bytes);
    k.shared_bytes = shared_of(*elf, k.name, out.sm);
    each_attribute(elf->section(".nv.info." + k.name), [&](u8 code, std::span<const u8> bytes) {
      if (code == kMaxThreads || code == kRequiredThreads) k.max_threads = product(bytes);
    });
    out.kernels.push_back(std::move(k));
  }
  return out;
}

}  // namespace us::sass
