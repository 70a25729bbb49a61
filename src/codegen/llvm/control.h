// SPDX-License-Identifier: Apache-2.0
// Control flow of one function. A form (RunForm) is a class: WarpControl, CtaControl, RegionsControl, ItsControl.
#pragma once
#include "codegen/llvm/warp_builder.h"

namespace us::codegen {

class Control : public Frame, protected Part {
 public:
  explicit Control(WarpBuilder&);

  // In the order in which FunctionEmitter calls them.
  void create_blocks();
  virtual void begin();        // before the prologue
  virtual void take_warp() {}  // in the prologue, when the CTA is known
  virtual Value* live_alloca();
  virtual void end_prologue() {}
  virtual void start() = 0;  // goes to the first block
  virtual void enter_block(u32 b) = 0;
  virtual bool part_of_terminator(const ir::Inst&) const { return false; }
  virtual void terminate(u32 b) = 0;
  virtual void leave();     // where all lanes have ended
  virtual void finish() {}  // everything has been emitted

  Value* ctx() override { return ctx_; }
  Value* warp_index() override;
  Value* place(Value* slot) override { return slot; }
  Value* slot_alloca(bool per_warp, llvm::Type*, const char* name) override;
  Value* scratch(llvm::Type*, const char* name) override;
  bool lanes_apart() const override { return false; }
  bool makes_call(device::RtFn, std::span<const V>, std::span<const u32>, V*) override { return false; }
  Value* live_place() { return place(s_.live); }

 protected:
  using Division = std::vector<std::pair<u32, Value*>>;  // target -> lanes

  virtual void plan() {}
  virtual void create_block(u32 b);
  Division divided(const ir::Terminator&, V cond);
  // All lanes go to one target: `go` emits each one's block.
  template <class F>
  void branch_uniformly(const ir::Terminator&, Value* cond, F&& go);
  // Strategy::Events: lanes that exit from a block, or by way of it in an empty one, before they are gone.
  // `lanes` exit; whole: they are all that is left of the warp.
  void tell_exit(u32 from, u32 to, Value* lanes, bool whole = false);
  Value* quick(u64 field, llvm::Type*);  // of WarpCtx::quick
  // ... barriers that no fibre waits at (RtFn::ProbeBarrier), of the program's making.
  bool tells(const ir::Inst& barrier) const { return m_.facts.events() && barrier.site != ir::kNoSite; }
  void tell_barrier(const ir::Inst* barrier, device::BarrierStep, Value* lanes);
  void kill_lanes(Value* m);
  u64 yield_site(u32 block, bool around_barrier) const;

  WarpBuilder& builder_;
  Values& v_;
  Slots& slots_;
  std::vector<u32> position_;  // in layout, by block
  Value* ctx_ = nullptr;       // WarpCtx of the warp, where a call runs one
};

template <class F>
void Control::branch_uniformly(const ir::Terminator& t, Value* cond, F&& go) {
  std::map<u32, Block*> edges;
  auto edge = [&](u32 to) {
    Block*& e = edges[to];
    if (!e) e = Block::Create(c_, "edge", s_.out);
    return e;
  };
  if (t.kind == ir::Terminator::Kind::CondBr) {
    b_.CreateCondBr(cond, edge(t.targets[0].v), edge(t.targets[1].v));
  } else {
    auto* sw = b_.CreateSwitch(cond, edge(t.targets.back().v), static_cast<unsigned>(t.targets.size()));
    for (u32 k = 0; k < t.targets.size(); ++k) sw->addCase(b_.getInt32(k), edge(t.targets[k].v));
  }
  for (auto& [to, e] : edges) {
    b_.SetInsertPoint(e);
    go(to);
  }
}

std::unique_ptr<Control> make_control(WarpBuilder&);

}  // namespace us::codegen
