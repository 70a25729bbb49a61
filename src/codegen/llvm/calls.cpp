// SPDX-License-Identifier: Apache-2.0
// Device functions: `void f(WarpCtx*, i32 mask, ptr args, ptr rets)`. Parameters of functions live in word buffers:
// 32-bit word w of lane l at word w * 32 + l, so that every access is one vector. Inlining and SROA dissolve them.
#include <algorithm>
#include <set>

#include "codegen/llvm/calls.h"
#include "device/abi/device_api.h"

namespace us::codegen {

using device::RtFn;
using ir::Operand;

static u32 total_words(const std::vector<ir::Param>& ps) {
  u32 end = 0;
  for (const ir::Param& p : ps) end = std::max(end, p.offset + p.size);
  return words(end);
}

// Argument k of a call as a value.
V Calls::call_arg(const ir::Inst::Call& call, std::size_t k, u32 bits, u32 byte) {
  const Operand& o = call.args[k];
  if (o.kind == Operand::Kind::Symbol && m_.ir.symbols[o.sym.v].space == isa::Space::Param) {
    u32 offset = 0;
    Value* buf = params_.buffer(o.sym, &offset);
    return params_.load(buf, offset + byte, bits);
  }
  return builder_.read(o, bits == 64 ? isa::Type::b64 : isa::Type::b32);
}

bool Calls::call_builtin(const std::string& name, const ir::Inst::Call& call) {
  auto result = [&](V v, u32 bits) {
    if (call.rets.empty()) return;
    const Operand& o = call.rets[0];
    if (o.kind == Operand::Kind::Symbol) {
      u32 offset = 0;
      Value* buf = params_.buffer(o.sym, &offset);
      params_.store(buf, offset, v_.resize(v, bits, false), bits);
    } else {
      builder_.write(o, v);
    }
  };
  V r;
  if (name == "vprintf") {
    builder_.call_rt(RtFn::Vprintf, {call_arg(call, 0, 64), call_arg(call, 1, 64)}, {32}, &r, false);
    result(r, 32);
  } else if (name == "malloc") {
    builder_.call_rt(RtFn::Malloc, {call_arg(call, 0, 64)}, {64}, &r, false);
    result(r, 64);
  } else if (name == "free") {
    builder_.call_rt(RtFn::Free, {call_arg(call, 0, 64)}, {}, &r, false);
  } else if (name == "__assertfail") {
    builder_.call_rt(RtFn::Assert,
                     {call_arg(call, 0, 64), call_arg(call, 1, 64), call_arg(call, 2, 32), call_arg(call, 3, 64),
                      call_arg(call, 4, 64)},
                     {}, &r, false);
  } else if (device::DeviceApiForm form; device::find_device_api(name, form)) {
    V a[device::kDeviceApiWords];
    for (u32 k = 0; k < device::kDeviceApiWords; ++k) {
      const device::DeviceApiWord& w = form.word[k];
      a[k] = k < form.words ? call_arg(call, w.argument, w.bytes * 8, w.byte) : v_.imm(64, 0);
    }
    builder_.call_rt(RtFn::DeviceApi,
                     {v_.imm(64, form.number), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]},
                     {form.result_bytes * 8}, &r, false);
    result(r, form.result_bytes * 8);
  } else {
    return false;
  }
  return true;
}

void Calls::call_function(const ir::Function& callee, const ir::Inst::Call& call, Value* m) {
  const u32 index = m_.ir.symbols[callee.sym.v].func.v;
  llvm::Function* target = m_.function(index);
  auto buffer = [&](const std::vector<ir::Param>& ps, const char* name) -> Value* {
    return s_.new_alloca(llvm::ArrayType::get(params_.word_type(), std::max(1u, total_words(ps))), name);
  };
  auto copy = [&](Value* to, u32 to_word, Value* from, u32 from_word, u32 n) {
    for (u32 k = 0; k < n; ++k) params_.store_word(to, to_word + k, params_.load_word(from, from_word + k));
  };
  Value* args = buffer(callee.params, "args");
  Value* rets = buffer(callee.rets, "rets");
  for (std::size_t k = 0; k < call.args.size() && k < callee.params.size(); ++k) {
    const Operand& o = call.args[k];
    const ir::Param& p = callee.params[k];
    if (o.kind == Operand::Kind::Symbol && m_.ir.symbols[o.sym.v].space == isa::Space::Param) {
      u32 offset = 0;
      Value* buf = params_.buffer(o.sym, &offset);
      copy(args, p.offset / 4, buf, offset / 4, words(p.size));
    } else {
      params_.store(args, p.offset, builder_.read(o, p.type), std::max(8u, isa::bits_of(p.type)));
    }
  }
  b_.CreateCall(target, {s_.frame->ctx(), m, args, rets});
  for (std::size_t k = 0; k < call.rets.size() && k < callee.rets.size(); ++k) {
    const Operand& o = call.rets[k];
    const ir::Param& p = callee.rets[k];
    if (o.kind == Operand::Kind::Symbol) {
      u32 offset = 0;
      Value* buf = params_.buffer(o.sym, &offset);
      // Only the lanes that called get new values.
      for (u32 w = 0; w < words(p.size); ++w) {
        Value* fresh = params_.load_word(rets, p.offset / 4 + w);
        Value* lanes = b_.CreateBitCast(m, llvm::FixedVectorType::get(b_.getInt1Ty(), kWarpSize));
        if (!m_.facts.one_thread) fresh = b_.CreateSelect(lanes, fresh, params_.load_word(buf, offset / 4 + w));
        params_.store_word(buf, offset / 4 + w, fresh);
      }
    } else if (o.kind == Operand::Kind::Value) {
      builder_.written().push_back({o.value, params_.load(rets, p.offset, std::max(8u, isa::bits_of(p.type)))});
    }
  }
}

void Calls::emit(const ir::Inst& i) {
  stores_.flush();
  const ir::Inst::Call& call = i.call[0];
  if (call.callee.valid()) {
    ir::SymId id = call.callee;
    while (m_.ir.symbols[id.v].alias.valid()) id = m_.ir.symbols[id.v].alias;
    const ir::Symbol& s = m_.ir.symbols[id.v];
    const bool defined = s.func.valid() && m_.ir.functions[s.func.v].defined;
    if (!defined) {
      if (call_builtin(s.name, call)) return;
      builder_.unimplemented("call " + s.name + " (a function this program does not define)", i.loc);
      for (const Operand& o : call.rets)
        if (o.kind == Operand::Kind::Value)
          builder_.written().push_back({o.value, v_.imm(ir::bits_of(f_.regs[o.value.v]), 0)});
      return;
    }
    call_function(m_.ir.functions[s.func.v], call, s_.mask());
  } else {
    // Indirect: try each function whose address is taken; lanes that match none call nothing known.
    V target = builder_.read(call.target, isa::Type::u64);
    Value* rest = s_.new_alloca(b_.getInt32Ty(), "icall");
    b_.CreateStore(s_.mask(), rest);
    const Value* was = s_.partial_mask();
    const bool was_full = s_.mask_full();
    std::size_t n_args = call.args.size(), n_rets = call.rets.size();
    std::vector<std::pair<ir::ValueId, Value*>> out_slots;
    for (const Operand& o : call.rets)
      if (o.kind == Operand::Kind::Value)
        out_slots.push_back({o.value, s_.new_alloca(v_.vec_type(ir::bits_of(f_.regs[o.value.v])), "iret")});
    for (auto& [id, slot] : out_slots)  // nothing comes in from before the call, around a loop least of all
      b_.CreateStore(llvm::Constant::getNullValue(v_.vec_type(ir::bits_of(f_.regs[id.v]))), slot);
    for (u32 f : m_.address_taken) {
      const ir::Function& callee = m_.ir.functions[f];
      if (!callee.defined || callee.params.size() != n_args || callee.rets.size() != n_rets) continue;
      Value* eq;
      V address = memory_.symbol_address(callee.sym, 0);
      eq = b_.CreateICmpEQ(v_.vec(target), v_.vec(address));
      Value* m = b_.CreateAnd(b_.CreateBitCast(eq, b_.getInt32Ty()), b_.CreateLoad(b_.getInt32Ty(), rest));
      auto* yes = Block::Create(c_, "icall", s_.out);
      auto* next = Block::Create(c_, "icall.next", s_.out);
      b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), yes, next);
      b_.SetInsertPoint(yes);
      s_.set_mask(m, false);
      b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), rest), b_.CreateNot(m)), rest);
      builder_.written().clear();
      call_function(callee, call, m);
      for (auto& [id, v] : builder_.written())
        for (auto& [want, slot] : out_slots)
          if (want == id) {
            Value* x = v_.vec(v_.resize(v, ir::bits_of(f_.regs[id.v]), false));
            b_.CreateStore(b_.CreateSelect(s_.mask_vec(), x, b_.CreateLoad(x->getType(), slot)), slot);
          }
      b_.CreateBr(next);
      b_.SetInsertPoint(next);
      s_.set_mask(const_cast<Value*>(was), was_full);
    }
    builder_.written().clear();
    for (auto& [id, slot] : out_slots)
      builder_.written().push_back({id, v_.make_varying(b_.CreateLoad(v_.vec_type(ir::bits_of(f_.regs[id.v])), slot),
                                                        ir::bits_of(f_.regs[id.v]))});
    Value* left = b_.CreateLoad(b_.getInt32Ty(), rest);
    auto* bad = Block::Create(c_, "icall.bad", s_.out);
    auto* ok = Block::Create(c_, "icall.ok", s_.out);
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt32(0)), bad, ok);
    b_.SetInsertPoint(bad);
    s_.set_mask(left, false);
    V none;
    builder_.call_rt(RtFn::BadIndirectCall, {target}, {}, &none, false);
    b_.CreateBr(ok);
    b_.SetInsertPoint(ok);
    s_.set_mask(const_cast<Value*>(was), was_full);
  }
  if (m_.functions_exit) {  // the callee may have ended some lanes
    Value* alive = b_.CreateLoad(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s_.frame->ctx(),
                                                                                offsetof(device::WarpCtx, live)));
    b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), s_.live), alive), s_.live);
    s_.set_mask(b_.CreateAnd(s_.mask(), alive), false);
  }
}

}  // namespace us::codegen
