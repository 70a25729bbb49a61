// SPDX-License-Identifier: Apache-2.0
// An access to an address that is no multiple of its size is a fault. Most addresses are an array's address plus something
// known to be a multiple (low_bits.h): then that scalar is tested, once on the way to all accesses that it speaks for. What
// is left is tested where it stands, a pattern by its scalar base, a vector of addresses lane by lane.
//
// Scalar tests are gathered and made at the end of a block: the fault ends the launch, so nobody sees that later accesses
// came first. Which access it was is found by the runtime from a table (device/misaligned.h), so that a test costs little
// code.
#include <llvm/IR/MDBuilder.h>

#include <bit>
#include <cstring>

#include "codegen/llvm/emitter.h"

namespace us::codegen {

using device::MisalignedAccess;
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
llvm::MDNode* unlikely(llvm::LLVMContext& c) { return llvm::MDBuilder(c).createBranchWeights(1, 1 << 20); }
}  // namespace

// Roots become operands of the accesses that they speak for, so that they are kept where those need them.
void Emitter::plan_alignment() {
  low_bits_ = low_bits(m_.ir, f_, cfg_, a_);
  std::vector<u32> def(f_.regs.size(), 0);
  for (u32 b = 0; b < f_.blocks.size(); ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis) def[p.dest.v] = b;
    for (ir::Inst& i : f_.blocks[b].insts) ir::for_each_def(i, [&](ir::ValueId d) { def[d.v] = b; });
  }
  for (u32 b = 0; b < f_.blocks.size(); ++b)
    for (ir::Inst& i : f_.blocks[b].insts) {
      if (i.form == isa::Form::Unknown || isa::info(i.form).effects == isa::kPure) continue;
      std::vector<ir::Operand> roots;
      for (ir::Operand& o : i.ops) {
        if (o.kind != ir::Operand::Kind::Address || !o.value.valid()) continue;
        LowBits& low = low_bits_[o.value.v];
        if (!low.root.valid()) continue;
        if (!a_.its && a_.shadow[low.root.v] && reads_shadow(a_, cfg_, low.root, def[low.root.v], b)) continue;
        roots.push_back({});
        roots.back().kind = ir::Operand::Kind::Value;
        roots.back().value = low.root;
      }
      for (ir::Operand& o : roots) i.ops.push_back(o);
    }
}

void Emitter::note_alignment(Value* low, u64 rest, const MemRef& m, LV& addr) {
  AlignmentTest t;
  low = b_.CreateZExtOrTrunc(low, b_.getInt32Ty());
  if (rest) low = b_.CreateAdd(low, b_.getInt32(static_cast<u32>(rest)));
  t.bad = b_.CreateAnd(low, m.align - 1);
  t.access.bytes = m.align;
  t.loc = b_.getCurrentDebugLocation();
  if (addr.shape.varying() || addr.guard) {
    t.base = t.bad;
    t.access.where = MisalignedAccess::Unknown;
  } else {
    t.base = addr.base;
    t.access.offset = static_cast<u64>(m.offset);
    if (addr.shape.pattern()) t.offsets = addr.shape.offsets;
  }
  alignment_.push_back(std::move(t));
  if (m.bits > 64 || alignment_.size() == 16) test_alignment();  // wide accesses are compiled as aligned ones
}

// By the root of the address, if it has one.
bool Emitter::root_alignment(const MemRef& m, LV& addr) {
  if (!m.base.valid() || m.base.v >= low_bits_.size()) return false;
  const LowBits& low = low_bits_[m.base.v];
  if (low.bits < log2_of(m.align)) return false;
  const u32 rest = (low.add + static_cast<u32>(m.base_offset + m.offset)) & (m.align - 1);
  if (!low.root.valid()) {
    if (rest) note_alignment(b_.getInt32(0), rest, m, addr);
    return true;
  }
  const bool at_hand = std::any_of(inst_->ops.begin(), inst_->ops.end(), [&](const ir::Operand& o) {
    return o.kind == ir::Operand::Kind::Value && o.value == low.root;
  });
  if (!at_hand) return false;
  std::vector<u32>& tested = alignment_tested_[{low.root.v, rest, m.align}];
  for (u32 b : tested)
    if (b == cur_ || cfg_.dominates(b, cur_)) return true;
  LV root = read_value(low.root);
  US_CHECK(root.shape.uniform());
  note_alignment(root.base, rest, m, addr);
  if (inst_->guard.kind == ir::Operand::Kind::None) tested.push_back(cur_);
  return true;
}

void Emitter::require_alignment(const MemRef& m, LV& addr) {
  if (!is_tested(m) || root_alignment(m, addr)) return;
  if (addr.shape.varying() || addr.guard) return require_lane_alignment(m, addr);
  const auto rest = common_rest(addr.shape, m);
  if (rest == 0 && known_zero(addr.shape, log2_of(m.align))) return;
  if (!rest) return require_lane_alignment(m, addr);
  note_alignment(addr.base, *rest, m, addr);
}

void Emitter::require_lane_alignment(const MemRef& m, LV& addr) {
  Value* v = vec(addr);
  Value* low = v;
  if (m.offset & (m.align - 1))
    low = b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<u64>(m.offset & (m.align - 1))));
  low = b_.CreateAnd(low, llvm::ConstantInt::get(v->getType(), m.align - 1));
  Value* bad = b_.CreateBitCast(b_.CreateICmpNE(low, llvm::Constant::getNullValue(v->getType())), b_.getInt32Ty());
  if (!mask_full_) bad = b_.CreateAnd(bad, mask());
  auto* cold = Block::Create(c_, "misaligned", out_);
  auto* go = Block::Create(c_, "aligned", out_);
  b_.CreateCondBr(b_.CreateICmpNE(bad, b_.getInt32(0)), cold, go, unlikely(c_));
  b_.SetInsertPoint(cold);
  Value* rows = scratch(vec_type(64), "misaligned.at");
  b_.CreateStore(b_.CreateZExtOrTrunc(v, vec_type(64)), rows);
  AlignmentTest t;
  t.base = b_.CreatePtrToInt(rows, b_.getInt64Ty());
  t.access = {static_cast<u64>(m.offset), m.align, 0, MisalignedAccess::Rows};
  t.loc = b_.getCurrentDebugLocation();
  report_misaligned({&t, 1});
  b_.SetInsertPoint(go);
}

void Emitter::test_alignment() {
  if (alignment_.empty()) return;
  const std::vector<AlignmentTest> tests = std::move(alignment_);
  alignment_.clear();
  Value* any = tests[0].bad;
  for (std::size_t k = 1; k < tests.size(); ++k) any = b_.CreateOr(any, tests[k].bad);
  auto* cold = Block::Create(c_, "misaligned", out_);
  auto* go = Block::Create(c_, "aligned", out_);
  b_.CreateCondBr(b_.CreateICmpNE(any, b_.getInt32(0)), cold, go, unlikely(c_));
  b_.SetInsertPoint(cold);
  report_misaligned(tests);
  b_.SetInsertPoint(go);
}

// Ends the block: the call does not return.
void Emitter::report_misaligned(std::span<const AlignmentTest> tests) {
  std::vector<u8> table(8 + tests.size() * sizeof(MisalignedAccess));
  auto append = [&](const void* data, std::size_t bytes) {
    const u64 at = table.size();
    table.resize(at + (bytes + 7) / 8 * 8);
    std::memcpy(table.data() + at, data, bytes);
    return at;
  };
  const u64 count = tests.size();
  std::memcpy(table.data(), &count, 8);
  for (std::size_t k = 0; k < tests.size(); ++k) {
    MisalignedAccess a = tests[k].access;
    if (tests[k].offsets) a.where = append(tests[k].offsets->data(), sizeof(Offsets));
    if (tests[k].loc) {
      const std::string line = tests[k].loc->getFilename().str() + ":" + std::to_string(tests[k].loc->getLine());
      a.text = append(line.c_str(), line.size() + 1);
    }
    std::memcpy(table.data() + 8 + k * sizeof a, &a, sizeof a);
  }
  auto* bytes = llvm::ConstantDataArray::get(c_, llvm::ArrayRef<u8>(table));
  auto* g = new llvm::GlobalVariable(*m_.module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes,
                                     "accesses");
  g->setAlignment(llvm::Align(8));
  if (!rt_args_) rt_args_ = new_alloca(llvm::ArrayType::get(vec_type(64), kMaxRtArgs), "rtargs");
  auto argument = [&](std::size_t k, Value* v) {
    b_.CreateStore(b_.CreateZExt(v, b_.getInt64Ty()), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), rt_args_, k));
  };
  argument(0, b_.CreatePtrToInt(g, b_.getInt64Ty()));
  for (std::size_t k = 0; k < tests.size(); ++k) argument(1 + k, tests[k].base);
  Value* rt = load_at(ctx0_, offsetof(device::WarpCtx, rt), b_.getPtrTy(), "rt");
  Value* callee = load_at(rt, static_cast<std::size_t>(device::RtFn::Misaligned) * 8, b_.getPtrTy(), "rtfn");
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  auto* call = b_.CreateCall(type, callee, {ctx(), mask(), rt_args_, llvm::ConstantPointerNull::get(b_.getPtrTy())});
  call->setDoesNotReturn();
  call->addFnAttr(llvm::Attribute::Cold);
  b_.CreateUnreachable();
}

}  // namespace us::codegen
