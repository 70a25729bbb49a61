// SPDX-License-Identifier: Apache-2.0
// Accesses that a device refuses end the launch. Tests of addresses are gathered and made at the end of a block, or before
// the first store that they concern: the fault ends the launch, so nobody sees that later loads came first. Which access it
// was is found by the runtime from a table (device/abi/bad_access.h), so that a test costs little code.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstring>

#include "codegen/llvm/emitter.h"

namespace us::codegen {

using device::BadAccess;

// Roots become operands of the accesses that they speak for, so that they are kept where those need them.
void Emitter::plan_tests() {
  low_bits_ = low_bits(m_.ir, f_, cfg_, a_);
  std::vector<u32> def(f_.regs.size(), 0);
  for (u32 b = 0; b < f_.blocks.size(); ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis) def[p.dest.v] = b;
    for (ir::Inst& i : f_.blocks[b].insts) ir::for_each_def(i, [&](ir::ValueId d) { def[d.v] = b; });
  }
  const auto at_hand = [&](ir::ValueId v, u32 b) {
    return a_.its || !a_.shadow[v.v] || !reads_shadow(a_, cfg_, v, def[v.v], b);
  };
  const auto add_root = [](ir::Inst& i, ir::ValueId v) {
    ir::Operand o;
    o.kind = ir::Operand::Kind::Value;
    o.value = v;
    i.roots.push_back(o);
  };
  for (u32 b = 0; b < f_.blocks.size(); ++b)
    for (ir::Inst& i : f_.blocks[b].insts) {
      if (i.form == isa::Form::Unknown || isa::info(i.form).effects == isa::kPure) continue;
      for (ir::Operand& o : i.ops) {
        if (o.kind != ir::Operand::Kind::Address || !o.value.valid()) continue;
        const LowBits& low = low_bits_[o.value.v];
        if (low.root.valid() && at_hand(low.root, b)) add_root(i, low.root);
      }
    }
  plan_bounds(at_hand, add_root);
  strides_ = strides(f_, cfg_, a_);
}

void Emitter::note_test(Value* bad, BadAccess::Rule rule, const MemRef& m, LV& addr, std::function<Value*()> exact) {
  AccessTest t;
  t.bad = b_.CreateZExtOrTrunc(bad, b_.getInt32Ty());
  t.access.bytes = rule == BadAccess::Misaligned ? m.align : m.bits / 8 * m.count;
  t.access.rule = rule;
  t.loc = b_.getCurrentDebugLocation();
  t.exact = std::move(exact);
  t.access.offset = static_cast<u64>(m.offset);
  const bool rows = addr.shape.varying() || addr.guard;
  if (rows) {
    t.base = vec(addr);
    t.access.where = BadAccess::Rows;
  } else {
    t.base = addr.base;
    if (addr.shape.pattern()) t.offsets = addr.shape.offsets;
  }
  tests_.push_back(std::move(t));
  // Vectors of addresses are kept until the tests are made: not many of them.
  const auto vectors =
      std::ranges::count_if(tests_, [](const AccessTest& x) { return x.base->getType()->isVectorTy(); });
  if (tests_.size() == kMaxTests || vectors == 2) make_tests();
}

llvm::BasicBlock* Emitter::cold_block(Value* condition, const char* cold, const char* go) {
  auto* bad = Block::Create(c_, cold, out_);
  auto* good = Block::Create(c_, go, out_);
  b_.CreateCondBr(condition, bad, good, llvm::MDBuilder(c_).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(bad);
  return good;
}

void Emitter::make_tests() {
  if (tests_.empty()) return;
  const std::vector<AccessTest> tests = std::move(tests_);
  tests_.clear();
  Value* any = tests[0].bad;
  for (std::size_t k = 1; k < tests.size(); ++k) any = b_.CreateOr(any, tests[k].bad);
  Block* go = cold_block(b_.CreateICmpNE(any, b_.getInt32(0)), "refused", "allowed");
  if (std::ranges::any_of(tests, [](const AccessTest& t) { return bool{t.exact}; })) {
    Value* sure = b_.getInt32(0);
    for (const AccessTest& t : tests) sure = b_.CreateOr(sure, t.exact ? t.exact() : t.bad);
    Block* report = Block::Create(c_, "surely", out_);
    b_.CreateCondBr(b_.CreateICmpNE(sure, b_.getInt32(0)), report, go);
    b_.SetInsertPoint(report);
  }
  report_access(tests);
  b_.SetInsertPoint(go);
}

// Ends the block: the call does not return.
void Emitter::end_launch(device::RtFn fn, Value* lanes, Value* args) {
  Value* rt = load_at(ctx0_, offsetof(device::WarpCtx, rt), b_.getPtrTy(), "rt");
  Value* callee = load_at(rt, static_cast<std::size_t>(fn) * 8, b_.getPtrTy(), "rtfn");
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  auto* call = b_.CreateCall(type, callee, {ctx(), lanes, args, llvm::ConstantPointerNull::get(b_.getPtrTy())});
  call->setDoesNotReturn();
  call->addFnAttr(llvm::Attribute::Cold);
  b_.CreateUnreachable();
}

void Emitter::report_access(std::span<const AccessTest> tests) {
  std::vector<u8> table(8 + tests.size() * sizeof(BadAccess));
  auto append = [&](const void* data, std::size_t bytes) {
    const u64 at = table.size();
    table.resize(at + (bytes + 7) / 8 * 8);
    std::memcpy(table.data() + at, data, bytes);
    return at;
  };
  const u64 count = tests.size();
  std::memcpy(table.data(), &count, 8);
  for (std::size_t k = 0; k < tests.size(); ++k) {
    BadAccess a = tests[k].access;
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
  static constexpr const char* names[] = {"refused.0", "refused.1"};
  std::size_t rows = 0;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    Value* base = tests[k].base;
    if (base->getType()->isVectorTy()) {
      Value* at = scratch(vec_type(64), names[rows++]);
      b_.CreateStore(b_.CreateZExtOrTrunc(base, vec_type(64)), at);
      base = b_.CreatePtrToInt(at, b_.getInt64Ty());
    }
    argument(1 + k, base);
  }
  end_launch(device::RtFn::BadAccess, mask(), rt_args_);
}

}  // namespace us::codegen
