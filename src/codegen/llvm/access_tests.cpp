// SPDX-License-Identifier: Apache-2.0
// Accesses that a device refuses end the launch. Tests of addresses are gathered and made at the end of a block, or
// before the first store that they concern: the fault ends the launch, so nobody sees that later loads came first.
// Which access it was is found by the runtime from a table (device/abi/bad_access.h), so that a test costs little code.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstring>

#include "codegen/llvm/access_tests.h"

namespace us::codegen {

using device::BadAccess;

AccessTests::AccessTests(FunctionState& s, Values& v, RuntimeCalls& runtime, DeferredStores& stores, Slots& slots)
    : Part(s),
      v_(v),
      runtime_(runtime),
      stores_(stores),
      slots_(slots),
      known_bits_(s.lowered.known_bits),
      reach_(s.lowered.reach),
      in_reach_(s.lowered.bounds.covered),
      reach_root_(s.lowered.bounds.by_root) {}

std::vector<AccessTest> AccessTests::put_aside() {
  std::vector<AccessTest> list = std::move(list_);
  list_.clear();
  return list;
}

void AccessTests::note(Value* bad, BadAccess::Rule rule, const MemRef& m, LV& addr, std::function<Value*()> exact) {
  AccessTest t;
  t.bad = b_.CreateZExtOrTrunc(bad, b_.getInt32Ty());
  t.access.bytes = rule == BadAccess::Misaligned ? m.align : m.bits / 8 * m.count;
  t.access.rule = rule;
  t.loc = b_.getCurrentDebugLocation();
  t.exact = std::move(exact);
  t.access.offset = static_cast<u64>(m.offset);
  const bool rows = addr.shape.varying() || addr.guard;
  if (rows) {
    t.base = v_.vec(addr);
    t.access.where = BadAccess::Rows;
  } else {
    t.base = addr.base;
    if (addr.shape.pattern()) t.offsets = addr.shape.offsets;
  }
  list_.push_back(std::move(t));
  // Vectors of addresses are kept until the tests are made: not many of them.
  const auto vectors =
      std::ranges::count_if(list_, [](const AccessTest& x) { return x.base->getType()->isVectorTy(); });
  if (list_.size() == kMaxTests || vectors == 2) make_all();
}

llvm::BasicBlock* AccessTests::cold_block(Value* condition, const char* cold, const char* go) {
  auto* bad = Block::Create(c_, cold, s_.out);
  auto* good = Block::Create(c_, go, s_.out);
  b_.CreateCondBr(condition, bad, good, llvm::MDBuilder(c_).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(bad);
  return good;
}

void AccessTests::make_all() {
  if (list_.empty()) return;
  const std::vector<AccessTest> tests = std::move(list_);
  list_.clear();
  Value* any = tests[0].bad;
  for (std::size_t k = 1; k < tests.size(); ++k) any = b_.CreateOr(any, tests[k].bad);
  Block* go = cold_block(b_.CreateICmpNE(any, b_.getInt32(0)), "refused", "allowed");
  if (std::ranges::any_of(tests, [](const AccessTest& t) { return bool{t.exact}; })) {
    Value* sure = b_.getInt32(0);
    for (const AccessTest& t : tests) sure = b_.CreateOr(sure, t.exact ? t.exact() : t.bad);
    Block* report = Block::Create(c_, "surely", s_.out);
    b_.CreateCondBr(b_.CreateICmpNE(sure, b_.getInt32(0)), report, go);
    b_.SetInsertPoint(report);
  }
  report(tests);
  b_.SetInsertPoint(go);
}

void AccessTests::report(std::span<const AccessTest> tests) {
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
  Value* rows_of_arguments = runtime_.argument_rows();
  auto argument = [&](std::size_t k, Value* v) {
    b_.CreateStore(b_.CreateZExt(v, b_.getInt64Ty()),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), rows_of_arguments, k));
  };
  argument(0, b_.CreatePtrToInt(g, b_.getInt64Ty()));
  static constexpr const char* names[] = {"refused.0", "refused.1"};
  std::size_t rows = 0;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    Value* base = tests[k].base;
    if (base->getType()->isVectorTy()) {
      Value* at = s_.frame->scratch(v_.vec_type(64), names[rows++]);
      b_.CreateStore(b_.CreateZExtOrTrunc(base, v_.vec_type(64)), at);
      base = b_.CreatePtrToInt(at, b_.getInt64Ty());
    }
    argument(1 + k, base);
  }
  runtime_.end_launch(device::RtFn::BadAccess, s_.mask(), rows_of_arguments);
}

}  // namespace us::codegen
