// SPDX-License-Identifier: Apache-2.0
// Independent thread scheduling: lanes of a warp wait for each other, a dispatcher runs blocks. See its_control.cpp.
#pragma once
#include "codegen/llvm/control.h"

namespace us::codegen {

class ItsControl final : public Control {
 public:
  using Control::Control;

  void begin() override;
  Value* live_alloca() override;
  void start() override { make_dispatcher(); }
  void enter_block(u32 b) override;
  void terminate(u32 b) override;
  void finish() override { close_frame(); }

  Value* slot_alloca(bool per_warp, llvm::Type*, const char* name) override;
  Value* scratch(llvm::Type*, const char* name) override;
  bool lanes_apart() const override { return true; }
  bool makes_call(device::RtFn, std::span<const V> args, std::span<const u32> bits, V* results) override;

 private:
  void make_frame();
  void close_frame();
  Value* frame_slot(llvm::Type*);
  Value* load_word(const std::vector<Value*>& set, u32 word);
  Value* all_of(std::initializer_list<const std::vector<Value*>*>);
  Value* is_alone();  // i1: no other lanes of the warp are pending anywhere
  void put(u32 slot, Value* mask, bool may_be_empty);
  void make_dispatcher();
  void end_round(u32 blocks);
  bool gated(u32 b) const;
  void gate(u32 b, const ir::Inst&);
  Value* ready_groups(Value* members, Value* come, Value* live);
  void check_spin(u32 b);
  void go_to(u32 to, Value* mask);
  void split(const Division&);
  // its_waits.cpp
  void barrier(std::span<const V> args, u32 red_bits, V* red);
  void cluster_wait();
  Block* poll_again(u32 slot, Value* ready);
  void nanosleep(V ns);

  Block* dispatch_ = nullptr;
  Block* round_ = nullptr;
  llvm::AllocaInst* frame_size_ = nullptr;
  Value* frame_ = nullptr;
  u64 bytes_ = 0;
  Value* pending_ = nullptr;                           // [blocks + barriers x i32]
  std::vector<Value*> ready_, waiting_, open_, todo_;  // bit sets of slots, 64 a word
  Value* next_mask_ = nullptr;                         // of the block that is entered
  Value* spun_ = nullptr;                              // rotations since other warps ran
  Value* spun_lanes_ = nullptr;                        // and the lanes that did
  Value* stalled_ = nullptr;                           // rounds in which all lanes waited
  Value* force_ = nullptr;                             // nonzero: gates are open although lanes are missing
  Value* inside_ = nullptr;  // lanes that are in this function, not back from it; kernels have none
  u32 slot_count_ = 0, next_poll_ = 0;
  llvm::SwitchInst* choice_ = nullptr;
  std::map<u32, Block*> queue_;  // by block: where lanes go that must wait for their turn
  std::map<std::pair<llvm::Type*, std::string_view>, Value*> scratch_;
};

}  // namespace us::codegen
