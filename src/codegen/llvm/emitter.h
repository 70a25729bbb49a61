// SPDX-License-Identifier: Apache-2.0
// Emits one SSA function as LLVM IR for a whole warp.
//
// A value (LV) is a Shape plus what it needs at run time: `base`, the scalar of a uniform or pattern; `vec`, the 32-lane
// vector, built on demand; `guard`, an i1 that says whether a guarded pattern holds (its `vec` is always right). Values are
// integers; float operations bitcast. Values used in another block than they are defined in live in allocas (Slot), which
// mem2reg turns into SSA again: a skipped block leaves them undefined, which no lane observes.
#pragma once
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "codegen/analysis.h"
#include "codegen/jit.h"
#include "codegen/low_bits.h"
#include "codegen/reach.h"
#include "codegen/rounds.h"
#include "codegen/strides.h"
#include "device/abi/bad_access.h"

namespace us::codegen {

struct LV {
  Shape shape;
  llvm::Value* base = nullptr;
  llvm::Value* vec = nullptr;
  llvm::Value* guard = nullptr;
  llvm::BasicBlock* vec_block = nullptr;  // vec of a uniform/pattern is only valid in this block
};

// The first and the last byte of an access, from the base of its address.
struct Extent {
  i64 first, last;
};

// One LLVM module for one kernel: the entry and every device function it can reach.
struct ModuleEmitter;

class Emitter final : public Builder {
 public:
  Emitter(ModuleEmitter& m, ir::Function& f, llvm::Function* out);
  void run();
  bool its() const { return a_.its; }
  bool cta_mode() const { return cta_mode_; }

  // Builder: values (values.cpp)
  u32 width(V v) override { return at(v).shape.bits; }
  V imm(u32 bits, u64 value) override;
  V bin(Bin, V a, V b) override;
  V un(Un, V a) override;
  V icmp(ICmp, V a, V b) override;
  V select(V c, V a, V b) override;
  V resize(V a, u32 bits, bool sign) override;
  V fbin(FBin, FT, V a, V b) override;
  V fma(FT, V a, V b, V c) override;
  V fun(FUn, FT, V a) override;
  V fcmp(FCmp, FT, V a, V b) override;
  V fcvt(FT to, FT from, V a) override;
  V i2f(FT to, V a, bool sign) override;
  V f2i(u32 bits, bool sign, FT from, V a) override;
  V lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) override;
  V table(std::span<const u32> entries, V index) override;
  bool interpolate(numerics::Approx, V place, Interpolated&) override;
  bool fast_math() const override;
  bool multiply_registers(const device::MmaCode&, std::span<const V> args, V* d) override;  // matrix.cpp
  V quick(V x, Operation ordinary, Operation short_way, Operation general) override;
  V read(const ir::Operand&, isa::Type as) override;
  void write(const ir::Operand&, V) override;
  u32 register_bits(ir::ValueId v) const override { return ir::bits_of(f_.regs[v.v]); }
  const ir::Module& module() const override;
  // Builder: warp (warp.cpp)
  V lane_id() override;
  V active_mask() override;
  V ballot(V pred) override;
  V members(V membermask) override;  // members.cpp
  V shuffle(V src, V lane) override;
  V sreg(isa::SReg, u32 comp) override;
  void call_runtime(device::RtFn, std::span<const V> args, std::span<const u32> bits, V* results,
                    bool uniform_if_args) override;
  void require_rights(const MemRef&, bool writes);
  void call_rt_now(device::RtFn, const std::vector<V>& args, const std::vector<u32>& bits, V* results,
                   bool uniform_if_args = false);
  // Builder: memory (memory.cpp)
  void load(const MemRef&, std::span<V> out) override;
  void store(const MemRef&, std::span<const V> in) override;
  V atomic(AtomOp, isa::Type, const MemRef&, V b, V c, bool result_used) override;
  void fence(Order, Scope) override;
  V symbol_address(ir::SymId, i64 offset) override;
  V to_generic(isa::Space, V addr64) override;
  V from_generic(isa::Space, V addr64) override;
  V in_space(isa::Space, V addr64) override;

 private:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;

  // --- values.cpp: LV bookkeeping
  V make(LV v);
  LV first_lane(LV v);
  LV& at(V v) { return pool_[v.id - 1]; }
  Value* permuted(std::span<const u32> entries, Value* index);  // table.cpp
  V make_uniform(Value* base, Shape shape);
  V make_vec(Value* vec, Shape shape);
  V make_varying(Value* vec, u32 bits) { return make_vec(vec, varying_shape(bits)); }
  llvm::IntegerType* int_type(u32 bits);
  llvm::FixedVectorType* vec_type(u32 bits);
  llvm::Type* float_type(FT);
  Value* const_int(u32 bits, u64 v);
  Value* offsets_vector(const Shape&, u32 bits);
  Value* vec(LV&);  // the 32-lane vector
  Value* vec(V v) { return vec(at(v)); }
  LV canon(LV v);  // NaN made canonical
  V canon(V v);
  Value* scalar_bin(Bin, Value* a, Value* b);  // a, b scalar or vector alike
  Value* apply_bin(Bin, Value* a, Value* b, u32 bits, const Shape* amount);
  Value* high_products(Value* a, Value* b, bool sign);
  Value* guarded_div(Bin, Value* a, Value* b);
  LV shape_result(Shape s, Value* base, Value* guard);
  template <class F>
  V map_float(FT t, u32 bits, std::initializer_list<V> in, bool dirty_ok, F&& f, Shape::Nan nan);
  Value* min_max(bool is_min, FT t, Value* a, Value* b);
  llvm::Function* general_function(Operation);  // quick.cpp
  // matrix.cpp
  bool others_may_read(isa::Space) const;           // others.cpp
  void refuse_strays(V membermask, Value* strays);  // members.cpp
  Value* behind_barrier();
  void note_read(isa::Space);
  void let_others_read(isa::Space);
  bool many_products();
  llvm::Function* product_function(const device::MmaCode&, const std::vector<Value*>& in);
  std::vector<Value*> product_of_doubles(const device::MmaCode&, const std::vector<Value*>&, Value* ctx, Value* mask);
  std::vector<Value*> product_of_vectors(const device::MmaCode&, const std::vector<Value*>&, Value* ctx, Value* mask);
  std::vector<Value*> product_by_runtime(const device::MmaCode&, const std::vector<Value*>&, Value* ctx, Value* mask);
  std::vector<Value*> or_by_runtime(const device::MmaCode&, const std::vector<Value*>& args, Value* ctx, Value* mask,
                                    const std::vector<Value*>& d, Value* rare);
  // half.cpp
  static llvm::Type* like_vector(Value* model, llvm::Type* scalar);
  Value* widen_half(Value* bits, FT);
  Value* narrow_half(Value* f32, FT);
  Value* odd_f32(Value* f64);
  Value* half_from_f64(Value* f64, FT);
  Value* fma_half(Value* a, Value* b, Value* c, FT);
  Value* to_float(Value* v, FT t);
  Value* to_int(Value* v);
  LV read_value(ir::ValueId);
  void define(ir::ValueId, LV);

  // --- warp.cpp
  Value* mask();      // i32: lanes executing now
  Value* mask_vec();  // <32 x i1>
  bool mask_full() const { return mask_full_; }
  void set_mask(Value* m, bool full);
  Value* ctx_field(std::size_t offset, llvm::Type*, const char* name);
  Value* load_at(Value* ptr, std::size_t offset, llvm::Type*, const char* name, bool invariant = true);
  V vector_tid(u32 comp);
  void copy_async(std::span<const V> args);

  // --- memory.cpp
  // What a memory access may touch (TBAA): shared memory, global memory, either (generic addresses), or fields of the
  // runtime's own structures, which no program reaches.
  template <class I>
  I* of_space(isa::Space s, I* access) {
    access->setMetadata(llvm::LLVMContext::MD_tbaa, memory_tag(s));
    return access;
  }
  template <class I>
  I* of_runtime(I* access) {
    access->setMetadata(llvm::LLVMContext::MD_tbaa, memory_tag(isa::Space::Param));
    return access;
  }
  llvm::MDNode* memory_tag(isa::Space);
  Value* window_ = nullptr;
  Value* window_base();
  Value* scalar_pointer(const MemRef&);     // uniform address
  LV address(const MemRef&, Value** root);  // lane address = root + addr (addr sign-extended to 64)
  Value* pointer_vector(Value* root, LV& addr);
  void load_lanes(const MemRef&, Value* root, LV& addr, std::span<V> out);
  void store_lanes(const MemRef&, Value* root, LV& addr, std::span<const V> in);
  bool load_windows(const MemRef&, Value* base_ptr, const Shape& shape, std::vector<Value*>& out);
  bool store_windows(const MemRef&, Value* base_ptr, const Shape& shape, std::vector<Value*>& in);
  Value* gather(const MemRef&, Value* root, LV& addr, i64 offset);
  void scatter(const MemRef&, Value* root, LV& addr, i64 offset, Value* v);
  Value* rows_test(const MemRef&, Value* root, LV& addr, Value** low, Value** high);
  Value* half_mask(bool high);
  Value* load_rows(const MemRef&, Value* root, LV& addr);
  void store_rows(const MemRef&, Value* root, LV& addr, Value* v);
  bool moves_whole(const MemRef&);  // a strong access to a vector: one access for a lane's 2 to 16 bytes
  void load_whole(const MemRef&, std::span<V> out);
  void store_whole(const MemRef&, std::span<const V> in);
  void split_words(std::span<const V> words, u32 bits, std::span<V> out);
  std::vector<V> join_words(const MemRef&, std::span<const V> in);
  struct PendingStores {
    Value* base = nullptr;
    Value* root = nullptr;
    u32 bits = 0;
    Block* block = nullptr;
    std::map<i64, std::pair<Value*, u32>> elements;  // byte offset from base -> vector and lane
  } stores_;
  void defer_store(const MemRef&, Value* root, LV& addr, const std::vector<Value*>& v);
  void flush_stores();  // before anything that may see memory, and before control leaves the block
  void compiler_fence();
  // access_tests.cpp: what the device would refuse
  struct AccessTest {
    Value* bad = nullptr;   // i32: not zero if the access is refused
    Value* base = nullptr;  // for the message: an address, or 32
    device::BadAccess access;
    std::shared_ptr<const Offsets> offsets;
    llvm::DebugLoc loc;
    std::function<Value*()> exact;  // `bad` may be too strict: the refused lanes, asked for only then
  };
  static constexpr std::size_t kMaxTests = 16;
  std::vector<AccessTest> tests_;  // of the block so far, made at its end
  void plan_tests();
  void note_test(Value* bad, device::BadAccess::Rule, const MemRef&, LV& addr, std::function<Value*()> exact = {});
  void make_tests();  // of everything noted so far
  void report_access(std::span<const AccessTest>);
  [[nodiscard]] Block* cold_block(Value* condition, const char* cold, const char* go);  // goes on in the cold one
  void end_launch(device::RtFn, Value* lanes, Value* args);
  // alignment.cpp
  std::vector<LowBits> low_bits_;                                    // by ValueId
  std::map<std::array<u32, 3>, std::vector<u32>> alignment_tested_;  // root, rest, size -> blocks
  void require_alignment(const MemRef&, LV& addr);
  bool root_alignment(const MemRef&, LV& addr);
  void require_lane_alignment(const MemRef&, LV& addr);  // of a vector of addresses, at once
  void note_alignment(Value* low, u64 rest, const MemRef&, LV& addr);
  // bounds.cpp
  Value* outside_shared(Value* address, Extent, bool above, Value* end);
  std::vector<Stride> strides_;                                        // by ValueId
  void fetch_ahead(const MemRef&, LV& addr);                           // fetch_ahead.cpp
  std::vector<Reach> reach_;                                           // by ValueId
  std::set<std::pair<const ir::Inst*, u32>> in_reach_;                 // instruction, address register: tested before
  std::map<std::pair<const ir::Inst*, u32>, ir::ValueId> reach_root_;  // the same: to be tested by this value
  void plan_bounds(const std::function<bool(ir::ValueId, u32)>& at_hand,
                   const std::function<void(ir::Inst&, ir::ValueId)>& add_root);
  void require_bounds(const MemRef&, LV& addr, bool writes);
  void global_bounds(const MemRef&, LV& addr, bool writes);
  void generic_bounds(const MemRef&, LV& addr);
  void shared_bounds(const MemRef&, LV& addr);
  void local_bounds(const MemRef&, LV& addr);
  void param_bounds(const MemRef&, LV& addr);
  void require_stack(Value* top);
  Value* outside_global(LV& addr, i64 offset);  // i32
  bool in_variable(const MemRef&, isa::Space) const;
  Value* is_outside(Value* address, i64 offset);  // i1, or one a lane
  Value* shared_end();                            // i32
  Value* cluster_blocks();                        // i32
  Value* local_bytes();                           // i64
  Value* lanes_outside_window(LV& addr, const MemRef&);
  Value* lanes_of(Value* flags);  // i32, active ones
  // Runs `body(lane i32)` for each active lane, lowest first.
  template <class F>
  void for_each_lane(F&& body);
  Value* atomic_scalar(AtomOp, isa::Type, Value* ptr, Value* b, Value* c, bool local_memory, Order);
  // parameters of device functions and calls: 32-bit words interleaved by lane (plain words where the block is one thread)
  Value* param_buffer(ir::SymId, u32* offset);
  llvm::Type* param_word();
  Value* param_place(Value* buf, u32 word);
  Value* load_param_word(Value* buf, u32 word);
  void store_param_word(Value* buf, u32 word, Value*);
  bool stored_in_parts(ir::SymId);
  V load_param(Value* buf, u32 byte, u32 bits);
  void store_param(Value* buf, u32 byte, V v, u32 bits, bool blend = true);

  // --- function.cpp: control flow
  void look_at_dependencies();
  void analyze_function();
  void create_blocks();
  void emit_prologue();
  void emit_block(u32 b);
  void emit_inst(const ir::Inst&);
  void emit_guarded(const ir::Inst&);
  void run_semantics(const ir::Inst&);
  void emit_terminator(u32 b);
  void emit_edge(u32 from, u32 to, Value* edge_mask, bool edge_full);  // phis + pending
  void emit_phis(u32 from, u32 to, Value* edge_mask, bool edge_full);
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
  void return_now();
  Value* pending(u32 b);
  bool checked(u32 b) const { return checked_[b]; }
  using Parts = std::vector<std::pair<u32, Value*>>;
  Parts divided(const ir::Terminator&, V cond);  // the lanes that go to each target
  void reorder_phi_inputs();
  void emit_phi_loads(u32 b);
  void finish_block(u32 b);
  void set_debug_loc(const SrcLoc&);
  Value* new_alloca(llvm::Type*, const char* name);
  Value* scratch(llvm::Type*, const char* name);
  // values in slots
  struct Slot {
    Value* base = nullptr;
    Value* vec = nullptr;
    Value* guard = nullptr;
    bool per_warp = false;
  };
  Slot& slot_of(ir::ValueId);
  bool in_register_slot(ir::ValueId) const;
  bool same_place(ir::ValueId, ir::ValueId) const;
  void store_slot(Slot&, LV&, Value* blend_mask);
  LV load_slot(Slot&, const Shape&);
  // cta.cpp: all warps of a CTA in one function
  bool choose_cta_mode();
  void split_and_analyze();
  void split_after_barriers();
  void find_live_across();
  void emit_cta_dispatch();
  void emit_cta_barrier(u32 continuation);
  void emit_cta_end();
  // rounds.cpp: a loop over the warps for each region between barriers
  void emit_rounds();
  void emit_round_end(std::span<const u32> regions, u32 next);
  bool shall_unroll(u32 region) const;
  void find_full_blocks();
  Value* ctx();
  Value* warp_index();
  Value* place(Value* slot);  // the current warp's part of a slot
  Value* slot_alloca(const Slot&, llvm::Type*, const char* name);
  Value* live_alloca();
  Value* live_place() { return place(live_); }
  // its.cpp: independent thread scheduling
  void its_prologue();
  void its_epilogue();
  void its_load_inputs(u32 b);
  bool is_phi_of(u32 b, ir::ValueId) const;
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
  void find_its_spins();
  bool calls_that_wait();
  // calls.cpp
  void emit_call(const ir::Inst&);
  void call_function(const ir::Function& callee, const ir::Inst::Call&, Value* m);
  bool call_builtin(const std::string& name, const ir::Inst::Call&);
  V call_arg(const ir::Inst::Call&, std::size_t k, u32 bits, u32 byte = 0);
  void unimplemented(const std::string& what, const SrcLoc&);

  friend struct ModuleEmitter;
  llvm::DISubprogram* subprogram_ = nullptr;
  ModuleEmitter& m_;
  ir::Function& f_;
  llvm::Function* out_;
  llvm::IRBuilder<> b_;
  llvm::LLVMContext& c_;
  ir::Cfg cfg_;
  Analysis a_;
  std::vector<LV> pool_;
  std::vector<LV> values_;  // by ValueId, valid in `value_block_`
  std::vector<Block*> value_block_;
  std::vector<std::pair<Block*, LV>> loaded_;  // by ValueId: read from its slot in this LLVM block
  std::vector<Slot> slots_, phi_in_;
  std::vector<Value*> shadows_;  // by ValueId
  std::vector<u8> crosses_;      // by ValueId: used in another block
  std::vector<u32> def_block_;
  std::vector<Value*> pending_;  // by block
  std::vector<u8> checked_;
  std::vector<std::vector<u32>>
      loop_ends_;           // by layout position: headers of the loops that end before it, inner ones first
  std::vector<u32> opens_;  // by block: the first that makes lanes wait for it, if there is one such edge
  std::vector<std::vector<u32>> forgotten_;  // by block: at its check nobody waits for these
  std::vector<llvm::Instruction*> forget_at_;
  llvm::Instruction* forget_at_start_ = nullptr;
  std::vector<Block*> body_, check_, sweep_;
  std::vector<u32> position_;  // in layout, by block
  u32 products_ = ~0u;         // matrix instructions on registers, once counted
  u32 cur_ = 0;                // block being emitted
  const ir::Inst* inst_ = nullptr;
  std::vector<std::pair<ir::ValueId, V>> written_;  // destinations of the current instruction
  Value* ctx_ = nullptr;                            // WarpCtx of the warp (not in CTA mode)
  Value* ctx0_ = nullptr;                           // a WarpCtx of this CTA: for what all its warps share
  Value* grid_ = nullptr;
  Value* cta_ = nullptr;
  Value* live_ = nullptr;      // alloca i32
  std::vector<u8> live_full_;  // by block: no lane can have ended before it, and all warps are full
  std::vector<u8> meets_;      // by checked, unguarded block: whoever comes to its check finds lanes there
  Value* mask_ = nullptr;
  Value* mask_vec_ = nullptr;
  Block* mask_vec_block_ = nullptr;
  bool mask_full_ = false;
  Block* end_ = nullptr;
  Block* alloca_block_ = nullptr;
  Value* args_in_ = nullptr;  // device functions
  Value* rets_out_ = nullptr;
  Value* local_base_ = nullptr;  // i32: first byte of this frame's local memory
  std::map<u32, Value*> param_bufs_;
  bool param_stores_counted_ = false;
  std::set<u32> stored_in_parts_;   // by SymId
  std::map<u32, u32> local_shift_;  // by SymId: .local variables of inlined functions
  Value* rt_args_ = nullptr;
  std::map<std::pair<llvm::Type*, std::string_view>, Value*> scratch_;
  Value* rt_results_ = nullptr;
  std::map<std::string, Value*> fields_;
  bool cta_mode_ = false;
  Value* warps_ = nullptr;  // CTA mode: WarpCtx* of each warp
  Value* warp_slot_ = nullptr;
  Value* ctx_slot_ = nullptr;
  Value* resume_ = nullptr;
  Value* finished_ = nullptr;
  Value* current_ = nullptr;
  Block* next_warp_ = nullptr;
  llvm::SwitchInst* resume_switch_ = nullptr;
  u32 resume_points_ = 0;
  Rounds rounds_;
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
  std::map<u32, bool> its_spins_;  // blocks with a spin check; of a loop around a barrier
  llvm::SwitchInst* its_switch_ = nullptr;
};

struct ModuleEmitter {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::DIBuilder> di;
  llvm::DICompileUnit* unit = nullptr;
  std::map<u32, llvm::DIFile*> files;
  const ir::Module& ir;
  Variant variant;
  LaunchFacts facts;
  bool avx512 = false, byte_permutes = false;
  bool force_varying = false, force_its = false;
  u32 many_blocks = 0;
  std::string dump_after;
  std::map<u32, llvm::Function*> functions;  // by FuncId: device functions
  std::map<const u32*, llvm::GlobalVariable*> tables;
  llvm::MDNode *shared_tag = nullptr, *global_tag = nullptr, *any_tag = nullptr, *runtime_tag = nullptr;  // TBAA
  bool triggers = false;                                                    // griddepcontrol.launch_dependents
  std::map<const void*, llvm::Function*> general;                           // by operation: Builder::quick
  std::map<std::pair<u64, llvm::FunctionType*>, llvm::Function*> products;  // by MmaCode: Emitter::multiply_registers
  std::vector<u32> work;                                                    // device functions still to emit
  std::vector<u32> address_taken;                                           // candidates of indirect calls
  std::map<u32, std::unique_ptr<ir::Function>> bodies;
  std::vector<u8> waiting;      // by FuncId, see inline_calls.h
  bool functions_exit = false;  // some device function can end its threads
  bool yields = false;
  u32 shared_static = 0;        // of the kernel
  bool shared_unsized = false;  // the module has variables whose size a launch tells

  ModuleEmitter(const ir::Module& m, const Variant& v);
  llvm::Function* function(u32 func_id);
  llvm::DIFile* file(u32 index);
};

void set_attributes(llvm::Function*);

// root + offset + extra; root may be null for plain 64-bit addresses.
llvm::Value* pointer_at(llvm::IRBuilder<>&, llvm::Value* root, llvm::Value* offset, i64 extra);

template <class F>
void Emitter::for_each_lane(F&& body) {
  if (m_.facts.one_thread) return body(b_.getInt64(0));
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "lanes", out_);
  auto* done = Block::Create(c_, "lanes.done", out_);
  llvm::Value* all = mask();
  b_.CreateCondBr(b_.CreateICmpNE(all, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(loop);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, before);
  llvm::Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, m, b_.getTrue());
  body(b_.CreateZExt(lane, b_.getInt64Ty()));
  llvm::Value* rest = b_.CreateAnd(m, b_.CreateSub(m, b_.getInt32(1)));
  m->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
}

}  // namespace us::codegen
