// SPDX-License-Identifier: Apache-2.0
// The builder that semantics functions run against: 32-lane LLVM IR under the current mask.
#pragma once
#include "codegen/llvm/counts.h"
#include "codegen/llvm/in_place.h"
#include "codegen/llvm/matrix_products.h"
#include "codegen/llvm/memory.h"

namespace us::codegen {

// What a function's code is made of.
struct FunctionParts {
  explicit FunctionParts(FunctionState&);

  FunctionState& state;
  Values values;
  RuntimeCalls runtime;
  DeferredStores stores;
  Slots slots;
  AccessTests tests;
  Params params;
  Memory memory;
  Products products;
};

class WarpBuilder final : public Builder, private Part {
 public:
  explicit WarpBuilder(FunctionParts&);

  FunctionParts& parts() { return parts_; }
  // Destinations of the current instruction.
  std::vector<std::pair<ir::ValueId, V>>& written() { return written_; }
  void unimplemented(const std::string& what, const SrcLoc&);

  // Values
  u32 width(V v) override { return v_.width(v); }
  V imm(u32 bits, u64 value) override { return v_.imm(bits, value); }
  V bin(Bin op, V a, V b) override { return v_.bin(op, a, b); }
  V un(Un op, V a) override { return v_.un(op, a); }
  V icmp(ICmp op, V a, V b) override { return v_.icmp(op, a, b); }
  V select(V c, V a, V b) override { return v_.select(c, a, b); }
  V resize(V a, u32 bits, bool sign) override { return v_.resize(a, bits, sign); }
  V fbin(FBin op, FT t, V a, V b) override { return v_.fbin(op, t, a, b); }
  V fma(FT t, V a, V b, V c) override { return v_.fma(t, a, b, c); }
  V fun(FUn op, FT t, V a) override { return v_.fun(op, t, a); }
  V fcmp(FCmp op, FT t, V a, V b) override { return v_.fcmp(op, t, a, b); }
  V fcvt(FT to, FT from, V a) override { return v_.fcvt(to, from, a); }
  V i2f(FT to, V a, bool sign) override { return v_.i2f(to, a, sign); }
  V f2i(u32 bits, bool sign, FT from, V a) override { return v_.f2i(bits, sign, from, a); }
  V lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) override {
    return v_.lanewise(fn, args, result_bits);
  }
  V table(std::span<const u32> entries, V index) override { return v_.table(entries, index); }
  bool interpolate(numerics::Approx f, V place, Interpolated& r) override { return v_.interpolate(f, place, r); }
  bool fast_math() const override { return m_.facts.fast_math; }
  V quick(V x, Operation ordinary, Operation short_way, Operation general) override;  // fast_path.cpp
  // Operands
  V read(const ir::Operand&, isa::Type as) override;
  void write(const ir::Operand&, V) override;
  void count(u32 site, probe::Counter c, u32 each) override {
    if (m_.facts.counts()) count_lanes(s_, site, c, each, s_.mask());
  }
  void record(u32 site, probe::RecordCode, V at) override;       // records.cpp
  void record_lanes(u32 site, probe::Detour, V lanes) override;  // records.cpp
  void note_site(u32 site) override {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s_.frame->ctx(), offsetof(device::WarpCtx, probe_site));
    m_.of_runtime(b_.CreateStore(b_.getInt32(site), p));
  }
  u32 settled() const override;
  bool closed() const override;
  void unless_settled(u32 bytes, V at, const Tell&) override;                   // quick_access.cpp
  void unless_quick(u32 site, probe::QuickAccess, V at, const Tell&) override;  // quick_access.cpp
  void unless_whole(V members, const Tell&) override;                           // quick_access.cpp
  u32 register_bits(ir::ValueId v) const override { return ir::bits_of(f_.regs[v.v]); }
  const ir::Module& module() const override { return m_.ir; }
  // Warp
  V lane_id() override { return v_.lane_id(); }
  V active_mask() override;
  V ballot(V pred) override;
  V members(V membermask) override;  // members.cpp
  V shuffle(V src, V lane) override;
  V thread_index(u32 k) override;
  V context(device::ContextWord, u32 k) override;
  // Memory
  void load(const MemRef& m, std::span<V> out) override { memory_.load(m, out); }
  void store(const MemRef& m, std::span<const V> in) override { memory_.store(m, in); }
  V atomic(AtomOp op, isa::Type t, const MemRef& m, V b, V c, bool result_used) override {
    return memory_.atomic(*this, op, t, m, b, c, result_used);
  }
  void fence(Order o, Scope s) override { memory_.fence(o, s); }
  V symbol_address(ir::SymId s, i64 offset) override { return memory_.symbol_address(s, offset); }
  V to_generic(isa::Space s, V a) override { return memory_.to_generic(s, a); }
  V from_generic(isa::Space s, V a) override { return memory_.from_generic(s, a); }
  V in_space(isa::Space s, V a) override { return memory_.in_space(s, a); }
  // The runtime
  void call_runtime(device::RtFn, std::span<const V> args, std::span<const u32> bits, V* results,
                    bool uniform_if_args) override;
  bool multiply_registers(const device::MmaCode& code, std::span<const V> args, V* d) override {
    return parts_.products.multiply(code, args, d);
  }

 private:
  Value* inside(const Settled&, u32 bytes, LV& at);                              // quick_access.cpp
  void judge_varying(InPlace, probe::QuickAccess, Value* address, Block* done);  // quick_access.cpp
  void judge_halves(InPlace, probe::QuickAccess, Value* address, Block* done);   // quick_access.cpp
  Block* unless_unheard(u32 site, probe::RecordCode, LV& at);                    // records.cpp
  void write_record_at(u32 site, probe::RecordCode, LV& at);                     // records.cpp
  llvm::Function* general_function(Operation);                                   // fast_path.cpp
  void refuse_strays(V membermask, Value* strays);                               // members.cpp
  V vector_tid(u32 comp);
  void copy_async(std::span<const V> args);

  FunctionParts& parts_;
  Values& v_;
  Slots& slots_;
  RuntimeCalls& runtime_;
  DeferredStores& stores_;
  Memory& memory_;
  std::vector<std::pair<ir::ValueId, V>> written_;
};

}  // namespace us::codegen
