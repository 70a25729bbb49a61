// SPDX-License-Identifier: Apache-2.0
// One warp under independent thread scheduling. Every lane has its own position; lanes at the same position run
// together.
//
//   pick the deepest call, then the smallest position among the lanes that can run
//     at a .sync collective or a barrier: wait there
//     otherwise: run the instruction for the group
//   a collective runs when every live lane that its membermask names waits at one
//   a CTA barrier runs when no lane of the warp can run: all lanes at the same barrier arrive together
//   a lane that used up its spin budget rests until every other lane that can run rests too; then the warp yields
#pragma once
#include "codegen/eval/eval_builder.h"
#include "codegen/probe_builder.h"
#include "device/abi/kernel_code.h"

namespace us::codegen::eval {

struct EvalKernel final : device::KernelCode {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;
  bool spins = false;  // some instruction may wait for another thread
  probe::Strategy probe = probe::Strategy::Nothing;
};

class Interpreter {
 public:
  Interpreter(const EvalKernel&, device::WarpCtx&);
  void run();

 private:
  struct Place {
    u32 depth, function, block, inst;
    auto operator<=>(const Place&) const = default;
  };
  Place place(u32 lane) const;
  u32 same_place(u32 candidates, u32 lane) const;
  u32 front_group(u32 candidates) const;
  u32 waiting() const;
  u32 ready_collective() const;
  u32 ready_barrier(u32& at) const;
  const ir::Inst* instruction(u32 lane);

  void step(u32 group);
  bool arrive(u32 group, const ir::Inst&);  // true: the group waits now
  void release(u32 group);
  void execute(u32 group, const ir::Inst&);
  void execute_here(u32 group, const ir::Inst&);
  void advance(u32 group);
  u32 guarded(u32 group, const ir::Inst&);
  void unimplemented(u32 group, const ir::Inst&, const std::string& what);

  void terminate(u32 group, const ir::Terminator&);
  void jump(u32 group, ir::BlockId, u32 site);  // of the branch
  void leave(u32 group, u32 site);              // of the exit
  void yield();

  // calls.cpp
  void call(u32 group, const ir::Inst&);
  void call_function(u32 group, const ir::Inst&, const ir::Function&);
  bool call_builtin(u32 group, const ir::Inst&, const std::string& name);
  bool call_device_api(u32 group, const ir::Inst&, const std::string& name);
  void push(u32 lane, const ir::Function&, const ir::Inst* call);
  void return_from(u32 group, u32 site);
  u64 argument(u32 lane, const ir::Operand&, u32 bytes, u32 at = 0);
  void set_result(u32 lane, const ir::Operand&, u64 value, u32 bytes);
  void copy_arguments(u32 lane, const ir::Inst::Call&, const ir::Function&);
  void copy_results(u32 lane, const ir::Inst::Call&, const ir::Function&, Frame& callee);

  const EvalKernel& kernel_;
  const ir::Module& module_;
  device::WarpCtx& warp_;
  std::array<Lane, 32> lanes_;
  EvalBuilder builder_;
  ProbeBuilder probe_;
  u32 resting_ = 0;
  std::array<u32, 32> spins_{};
  std::array<u32, 32> came_by_{};  // by lane: the branch that it took last
};

}  // namespace us::codegen::eval
