// SPDX-License-Identifier: Apache-2.0
// An access to an address that is no multiple of its size is a fault. Most addresses are an array's address plus
// something known to be a multiple (known_bits.h): then that scalar is tested, once on the way to all accesses that it
// speaks for. What is left is tested where it stands, a pattern by its scalar base, a vector of addresses lane by lane.
#include <bit>

#include "codegen/llvm/access_tests.h"

namespace us::codegen {

using device::BadAccess;
using isa::Space;

namespace {
// Local memory and parameters have addresses of their own, which programs cannot misalign by a wrong pointer.
bool is_tested(const MemRef& m) {
  return m.align > 1 && m.space != Space::Param && m.space != Space::Const && m.space != Space::Local;
}
bool known_zero(const Shape& s, u32 bits) { return s.known ? !(s.value & mask_bits(bits)) : s.low_zeros >= bits; }
u32 log2_of(u32 align) { return static_cast<u32>(std::countr_zero(align)); }
// What offsets add modulo the size, if that is the same in all lanes.
std::optional<u64> common_rest(const Shape& s, const MemRef& m) {
  const u64 rest = static_cast<u64>(m.offset + s.offset(0)) & (m.align - 1);
  for (u32 l = 1; l < kWarpSize; ++l)
    if ((static_cast<u64>(m.offset + s.offset(l)) & (m.align - 1)) != rest) return std::nullopt;
  return rest;
}
}  // namespace

void AccessTests::note_alignment(Value* low, u64 rest, const MemRef& m, LV& addr) {
  low = b_.CreateZExtOrTrunc(low, b_.getInt32Ty());
  if (rest) low = b_.CreateAdd(low, b_.getInt32(static_cast<u32>(rest)));
  note(b_.CreateAnd(low, m.align - 1), BadAccess::Misaligned, m, addr);
  if (m.bits > 64) make_all();  // wide accesses are compiled as aligned ones
}

// By the root of the address, if it has one.
bool AccessTests::root_alignment(const MemRef& m, LV& addr) {
  if (!m.base.valid() || m.base.v >= known_bits_.size()) return false;
  const KnownBits& low = known_bits_[m.base.v];
  if (low.bits < log2_of(m.align)) return false;
  const u32 rest = (low.add + static_cast<u32>(m.base_offset + m.offset)) & (m.align - 1);
  if (!low.root.valid()) {
    if (rest) note_alignment(b_.getInt32(0), rest, m, addr);
    return true;
  }
  const bool at_hand = std::any_of(s_.inst->roots.begin(), s_.inst->roots.end(),
                                   [&](const ir::Operand& o) { return o.value == low.root; });
  if (!at_hand) return false;
  ir::DominatingBlocks& tested = alignment_tested_[{low.root.v, rest, m.align}];
  if (tested.cover(cfg_, s_.cur)) return true;
  LV root = slots_.read(low.root);
  US_CHECK(root.shape.uniform());
  note_alignment(root.base, rest, m, addr);
  if (s_.inst->guard.kind == ir::Operand::Kind::None) tested.add(cfg_, s_.cur);
  return true;
}

void AccessTests::require_alignment(const MemRef& m, LV& addr) {
  if (!is_tested(m) || root_alignment(m, addr)) return;
  if (addr.shape.varying() || addr.guard) return require_lane_alignment(m, addr);
  const auto rest = common_rest(addr.shape, m);
  if (rest == 0 && known_zero(addr.shape, log2_of(m.align))) return;
  if (!rest) return require_lane_alignment(m, addr);
  note_alignment(addr.base, *rest, m, addr);
}

void AccessTests::require_lane_alignment(const MemRef& m, LV& addr) {
  Value* v = v_.vec(addr);
  Value* low = v;
  if (m.offset & (m.align - 1))
    low = b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<u64>(m.offset & (m.align - 1))));
  low = b_.CreateAnd(low, llvm::ConstantInt::get(v->getType(), m.align - 1));
  Value* bad = b_.CreateBitCast(b_.CreateICmpNE(low, llvm::Constant::getNullValue(v->getType())), b_.getInt32Ty());
  if (!s_.mask_full()) bad = b_.CreateAnd(bad, s_.mask());
  note(bad, BadAccess::Misaligned, m, addr);
  make_all();
}

}  // namespace us::codegen
