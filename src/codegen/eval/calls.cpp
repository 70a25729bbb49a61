// SPDX-License-Identifier: Apache-2.0
// Calls: direct and through function addresses, parameters, and the functions that the device provides itself.
#include <bit>
#include <cstring>

#include "codegen/eval/interp.h"
#include "device/abi/device_api.h"

namespace us::codegen::eval {

using device::RtFn;

namespace {
template <class F>
void each(u32 mask, F&& f) {
  for (u32 m = mask; m; m &= m - 1) f(static_cast<u32>(std::countr_zero(m)));
}
std::vector<u8>& parameter(Frame& f, ir::SymId id, u64 size) {
  std::vector<u8>& p = f.params[id.v];
  if (p.size() < size) p.resize(std::max<u64>(size, 16));
  return p;
}
}  // namespace

void Interpreter::push(u32 lane, const ir::Function& f, const ir::Inst* call) {
  Lane& l = lanes_[lane];
  auto frame = std::make_unique<Frame>();
  frame->function = &f;
  frame->call = call;
  frame->regs.resize(f.regs.size());
  frame->local_base = l.stack.empty() ? 0 : l.top().next_local();
  l.stack.push_back(std::move(frame));
}

// Value of an argument that fits a register, or bytes of a .param variable.
u64 Interpreter::argument(u32 lane, const ir::Operand& o, u32 bytes, u32 at) {
  u64 v = 0;
  if (o.kind == ir::Operand::Kind::Symbol) {
    std::memcpy(&v, parameter(lanes_[lane].top(), o.sym, at + bytes).data() + at, bytes);
  } else {
    builder_.reset(1u << lane);
    v = builder_.value(builder_.read(o, isa::Type::b64)).lo[lane];
  }
  return v;
}
void Interpreter::set_result(u32 lane, const ir::Operand& o, u64 value, u32 bytes) {
  if (o.kind == ir::Operand::Kind::Symbol) {
    std::memcpy(parameter(lanes_[lane].top(), o.sym, bytes).data(), &value, bytes);
  } else {
    builder_.reset(1u << lane);
    builder_.write(o, builder_.imm(64, value));
  }
}
void Interpreter::copy_arguments(u32 lane, const ir::Inst::Call& c, const ir::Function& f) {
  Lane& l = lanes_[lane];
  Frame &callee = l.top(), &caller = *l.stack[l.stack.size() - 2];
  for (std::size_t k = 0; k < f.params.size() && k < c.args.size(); ++k) {
    const ir::Param& p = f.params[k];
    std::vector<u8>& to = parameter(callee, p.sym, p.size);
    if (c.args[k].kind == ir::Operand::Kind::Symbol) {
      std::memcpy(to.data(), parameter(caller, c.args[k].sym, p.size).data(), p.size);
      continue;
    }
    std::unique_ptr<Frame> kept = std::move(l.stack.back());
    l.stack.pop_back();
    const u64 v = argument(lane, c.args[k], std::min(p.size, 8u));
    l.stack.push_back(std::move(kept));
    std::memcpy(to.data(), &v, std::min<std::size_t>(p.size, 8));
  }
}
void Interpreter::copy_results(u32 lane, const ir::Inst::Call& c, const ir::Function& f, Frame& callee) {
  for (std::size_t k = 0; k < f.rets.size() && k < c.rets.size(); ++k) {
    const ir::Param& p = f.rets[k];
    const std::vector<u8>& from = parameter(callee, p.sym, p.size);
    if (c.rets[k].kind == ir::Operand::Kind::Symbol) {
      std::memcpy(parameter(lanes_[lane].top(), c.rets[k].sym, p.size).data(), from.data(), p.size);
      continue;
    }
    u64 v = 0;
    std::memcpy(&v, from.data(), std::min<std::size_t>(p.size, 8));
    set_result(lane, c.rets[k], v, std::min(p.size, 8u));
  }
}

void Interpreter::call(u32 group, const ir::Inst& i) {
  const ir::Inst::Call& c = i.call.at(0);
  if (c.callee.valid()) {
    const ir::Symbol* s = &module_.symbols[c.callee.v];
    while (s->alias.valid()) s = &module_.symbols[s->alias.v];
    const ir::Function* f = s->func.valid() ? &module_.functions[s->func.v] : nullptr;
    if (f && f->defined) return call_function(group, i, *f);
    if (!call_builtin(group, i, s->name)) unimplemented(group, i, "function " + s->name);
    return;
  }
  each(group, [&](u32 l) {
    const u64 to = argument(l, c.target, 8);
    for (const ir::Function& f : module_.functions)
      if (f.defined && warp_.grid->symbols[f.sym.v] == to) return call_function(1u << l, i, f);
    builder_.reset(1u << l);
    builder_.call_rt(RtFn::BadIndirectCall, {builder_.imm(64, to)}, {}, nullptr, false);
  });
}
void Interpreter::call_function(u32 group, const ir::Inst& i, const ir::Function& f) {
  each(group, [&](u32 l) {
    if (lanes_[l].top().next_local() + f.local_bytes > warp_.local_stride) {
      builder_.reset(1u << l);
      builder_.call_rt(RtFn::Trap, {}, {}, nullptr, false);
    }
    push(l, f, &i);
    copy_arguments(l, i.call[0], f);
  });
}
void Interpreter::return_from(u32 group, u32 site) {
  u32 ended = 0;
  each(group, [&](u32 l) {
    Lane& lane = lanes_[l];
    if (lane.stack.size() == 1) {
      ended |= 1u << l;
      return;
    }
    const std::unique_ptr<Frame> callee = std::move(lane.stack.back());
    lane.stack.pop_back();
    copy_results(l, callee->call->call[0], *callee->function, *callee);
  });
  if (ended) leave(ended, site);
}

namespace {
struct Builtin {
  const char* name;
  RtFn fn;
  u32 arg_bytes[5];
  u32 result_bytes;
};
constexpr Builtin kBuiltins[] = {
    {"vprintf", RtFn::Vprintf, {8, 8}, 4},
    {"malloc", RtFn::Malloc, {8}, 8},
    {"free", RtFn::Free, {8}, 0},
    {"__assertfail", RtFn::Assert, {8, 8, 4, 8, 8}, 0},
};
}  // namespace
bool Interpreter::call_builtin(u32 group, const ir::Inst& i, const std::string& name) {
  for (const Builtin& f : kBuiltins) {
    if (name != f.name) continue;
    const ir::Inst::Call& c = i.call[0];
    u64 args[5 * 32] = {}, results[32] = {};
    for (u32 k = 0; k < c.args.size() && k < 5; ++k)
      each(group, [&](u32 l) { args[k * 32 + l] = argument(l, c.args[k], f.arg_bytes[k]); });
    warp_.rt[static_cast<std::size_t>(f.fn)](&warp_, group, args, results);
    if (f.result_bytes && !c.rets.empty())
      each(group, [&](u32 l) { set_result(l, c.rets[0], results[l], f.result_bytes); });
    return true;
  }
  return call_device_api(group, i, name);
}
bool Interpreter::call_device_api(u32 group, const ir::Inst& i, const std::string& name) {
  device::DeviceApiForm f;
  const ir::Inst::Call& c = i.call[0];
  if (!device::find_device_api(name, f)) return false;
  u64 args[(1 + device::kDeviceApiWords) * 32] = {}, results[32] = {};
  each(group, [&](u32 l) {
    args[l] = f.number;
    for (u32 k = 0; k < f.words; ++k)
      args[(k + 1) * 32 + l] = argument(l, c.args.at(f.word[k].argument), f.word[k].bytes, f.word[k].byte);
  });
  warp_.rt[static_cast<std::size_t>(RtFn::DeviceApi)](&warp_, group, args, results);
  if (!c.rets.empty()) each(group, [&](u32 l) { set_result(l, c.rets[0], results[l], f.result_bytes); });
  return true;
}

}  // namespace us::codegen::eval
