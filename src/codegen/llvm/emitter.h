// SPDX-License-Identifier: Apache-2.0
// Emits one SSA function as LLVM IR for a whole warp.
//
// A value (LV) is a Shape plus what it needs at run time: `base`, the scalar of a uniform or pattern; `vec`, the 32-lane
// vector, built on demand; `guard`, an i1 that says whether a guarded pattern holds (its `vec` is always right). Values are
// integers; float operations bitcast. Values used in another block than they are defined in live in allocas (Slot), which
// mem2reg turns into SSA again: a skipped block leaves them undefined, which no lane observes.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "codegen/jit.h"
#include "codegen/llvm/matrix_products.h"
#include "codegen/llvm/memory.h"
#include "device/bad_access.h"

namespace us::codegen {

class Emitter final : public Builder, public Frame, private Part {
 public:
  explicit Emitter(FunctionState&);
  void run();

  // Builder: values (values.cpp)
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
  bool fast_math() const override;
  bool multiply_registers(const device::MmaCode& code, std::span<const V> args, V* d) override {
    return products_.multiply(code, args, d);
  }
  V quick(V x, Operation ordinary, Operation short_way, Operation general) override;
  V read(const ir::Operand&, isa::Type as) override;
  void write(const ir::Operand&, V) override;
  u32 register_bits(ir::ValueId v) const override { return ir::bits_of(f_.regs[v.v]); }
  const ir::Module& module() const override;
  // Builder: warp (warp.cpp)
  V lane_id() override { return v_.lane_id(); }
  V active_mask() override;
  V ballot(V pred) override;
  V members(V membermask) override;  // members.cpp
  V shuffle(V src, V lane) override;
  V sreg(isa::SReg, u32 comp) override;
  using Builder::call_rt;
  void call_rt(device::RtFn, std::span<const V> args, std::span<const u32> bits, V* results,
               bool uniform_if_args) override;
  // Builder: memory (memory.cpp)
  void load(const MemRef& m, std::span<V> out) override { memory_.load(m, out); }
  void store(const MemRef& m, std::span<const V> in) override { memory_.store(m, in); }
  V atomic(AtomOp op, isa::Type t, const MemRef& m, V b, V c, bool result_used) override {
    return memory_.atomic(op, t, m, b, c, result_used);
  }
  void fence(Order o, Scope s) override { memory_.fence(o, s); }
  V symbol_address(ir::SymId s, i64 offset) override { return memory_.symbol_address(s, offset); }
  V to_generic(isa::Space s, V a) override { return memory_.to_generic(s, a); }
  V from_generic(isa::Space s, V a) override { return memory_.from_generic(s, a); }
  V in_space(isa::Space s, V a) override { return memory_.in_space(s, a); }

 private:
  llvm::Function* general_function(Operation);      // quick.cpp
  void refuse_strays(V membermask, Value* strays);  // members.cpp
  // --- warp.cpp
  V vector_tid(u32 comp);
  void copy_async(std::span<const V> args);

  // --- function.cpp: control flow
  void create_blocks();
  void emit_prologue();
  void emit_block(u32 b);
  void emit_inst(const ir::Inst&);
  void emit_guarded(const ir::Inst&);
  void run_semantics(const ir::Inst&);
  void emit_terminator(u32 b);
  void emit_edge(u32 from, u32 to, Value* edge_mask, bool edge_full);  // phis + pending
  void kill_lanes(Value* m);
  void branch_to(u32 to);      // plain jump or jump to its check
  Block* sweep_from(u32 pos);  // continue the sweep at a layout position
  void find_loop_ends();
  // forget.cpp
  bool in_loops_of(u32 inner, u32 outer) const;
  u32 first_source(u32 block) const;
  u32 place_to_forget(u32 source, u32 block) const;
  bool has_many_blocks() const;
  void plan_forgetting();
  bool opens(u32 from, u32 to) const;
  void forget_pending(u32 block);
  void forget_slots();
  Block* sweep_block(u32 pos);
  void spin_check(u32 block, bool around_barrier);
  u64 yield_site(u32 block, bool around_barrier) const;
  using Parts = std::vector<std::pair<u32, Value*>>;
  Parts divided(const ir::Terminator&, V cond);  // the lanes that go to each target
  void finish_block(u32 b);
  // cta.cpp: all warps of a CTA in one function
  void find_live_across();
  void emit_cta_dispatch();
  void emit_cta_barrier(u32 continuation);
  void emit_cta_end();
  // rounds.cpp: a loop over the warps for each region between barriers
  void emit_rounds();
  void emit_round_end(std::span<const u32> regions, u32 next);
  bool shall_unroll(u32 region) const;
  void find_full_blocks();
  Value* ctx() override;
  Value* warp_index() override;
  Value* place(Value* slot) override;
  Value* slot_alloca(bool per_warp, llvm::Type*, const char* name) override;
  Value* scratch(llvm::Type*, const char* name) override;
  bool lanes_apart() const override { return a_.its; }
  Value* live_alloca();
  Value* live_place() { return place(s_.live); }
  // its.cpp: independent thread scheduling
  void its_prologue();
  void its_epilogue();
  Value* its_slot(llvm::Type*);
  Value* its_load(const std::vector<Value*>& set, u32 word);
  Value* its_all_of(std::initializer_list<const std::vector<Value*>*>);
  Value* its_alone();  // i1: no other lanes of the warp are pending anywhere
  void its_put(u32 slot, Value* mask, bool may_be_empty);
  void emit_its_dispatch();
  void emit_its_round_end(u32 blocks);
  bool its_gated(u32 b) const;
  void emit_its_head(u32 b);
  void emit_its_gate(u32 b, const ir::Inst&);
  Value* its_ready_groups(Value* members, Value* come, Value* live);
  void emit_its_spin_check(u32 b);
  void its_go(u32 to, Value* mask);
  void its_split(const Parts&);
  std::map<u32, Block*> its_queue_;  // by block: where lanes go that must wait for their turn
  void emit_its_terminator(u32 b);
  void its_barrier(std::span<const V> args, u32 red_bits, V* red);
  void its_cluster_wait();
  Block* its_poll_again(u32 slot, Value* ready);
  void its_nanosleep(V ns);
  // calls.cpp
  void emit_call(const ir::Inst&);
  void call_function(const ir::Function& callee, const ir::Inst::Call&, Value* m);
  bool call_builtin(const std::string& name, const ir::Inst::Call&);
  V call_arg(const ir::Inst::Call&, std::size_t k, u32 bits, u32 byte = 0);
  void unimplemented(const std::string& what, const SrcLoc&);

  std::vector<Value*> pending_;  // by block
  std::vector<u8> checked_;
  std::vector<std::vector<u32>>
      loop_ends_;           // by layout position: headers of the loops that end before it, inner ones first
  std::vector<u32> opens_;  // by block: the first that makes lanes wait for it, if there is one such edge
  std::vector<std::vector<u32>> forgotten_;  // by block: at its check nobody waits for these
  std::vector<llvm::Instruction*> forget_at_;
  llvm::Instruction* forget_at_start_ = nullptr;
  Values v_;
  RuntimeCalls runtime_;
  DeferredStores stores_;
  Slots slots_;
  AccessTests tests_;
  Params params_;
  Memory memory_;
  Products products_;
  std::vector<Block*> check_, sweep_;
  std::vector<u32> position_;                       // in layout, by block
  std::vector<std::pair<ir::ValueId, V>> written_;  // destinations of the current instruction
  Value* ctx_ = nullptr;                            // WarpCtx of the warp (not in CTA mode)
  std::vector<u8> live_full_;  // by block: no lane can have ended before it, and all warps are full
  std::vector<u8> meets_;      // by checked, unguarded block: whoever comes to its check finds lanes there
  std::map<std::pair<llvm::Type*, std::string_view>, Value*> scratch_;
  const bool cta_mode_;
  Value* warps_ = nullptr;  // CTA mode: WarpCtx* of each warp
  Value* warp_slot_ = nullptr;
  Value* ctx_slot_ = nullptr;
  Value* resume_ = nullptr;
  Value* finished_ = nullptr;
  Value* current_ = nullptr;
  Block* next_warp_ = nullptr;
  llvm::SwitchInst* resume_switch_ = nullptr;
  u32 resume_points_ = 0;
  const Rounds& rounds_;
  const bool by_regions_;             // a loop over the warps for each region
  Value* region_ = nullptr;           // alloca i32: where a barrier or the end is reached from several regions
  std::vector<Block*> region_start_;  // by region: takes up the warp
  Block* dispatch_ = nullptr;         // ITS
  Block* its_round_ = nullptr;
  llvm::AllocaInst* its_frame_size_ = nullptr;
  Value* its_frame_ = nullptr;
  u64 its_bytes_ = 0;
  Value* its_pending_ = nullptr;                                       // [blocks + barriers x i32]
  std::vector<Value*> its_ready_, its_waiting_, its_open_, its_todo_;  // bit sets of slots, 64 a word
  Value* its_mask_ = nullptr;                                          // of the block that is entered
  Value* its_spun_ = nullptr;                                          // rotations since other warps ran
  Value* its_spun_lanes_ = nullptr;                                    // and the lanes that did
  Value* its_stalled_ = nullptr;                                       // rounds in which all lanes waited
  Value* its_force_ = nullptr;   // nonzero: gates are open although lanes are missing
  Value* its_inside_ = nullptr;  // lanes that are in this function, not back from it; kernels have none
  u32 its_slots_ = 0, its_next_poll_ = 0;
  const std::map<u32, bool>& its_spins_;  // blocks with a spin check; of a loop around a barrier
  llvm::SwitchInst* its_switch_ = nullptr;
};

}  // namespace us::codegen
