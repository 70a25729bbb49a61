// SPDX-License-Identifier: Apache-2.0
// Device functions: `void f(WarpCtx*, i32 mask, ptr args, ptr rets)`. Parameters of functions live in word buffers:
// 32-bit word w of lane l at word w * 32 + l, so that every access is one vector. Inlining and SROA dissolve them.
#include <algorithm>
#include <set>

#include "codegen/llvm/emitter.h"
#include "device/abi/device_api.h"

namespace us::codegen {

using device::RtFn;
using ir::Operand;

static u32 words(u32 bytes) { return (bytes + 3) / 4; }

static u32 total_words(const std::vector<ir::Param>& ps) {
  u32 end = 0;
  for (const ir::Param& p : ps) end = std::max(end, p.offset + p.size);
  return words(end);
}

// The buffer a .param variable lives in, or null for parameters of the entry (then *offset is its place in the block).
llvm::Value* Emitter::param_buffer(ir::SymId id, u32* offset) {
  *offset = 0;
  for (const ir::Param& p : f_.params)
    if (p.sym == id) {
      *offset = p.offset;
      return f_.entry ? nullptr : args_in_;
    }
  for (const ir::Param& p : f_.rets)
    if (p.sym == id) {
      *offset = p.offset;
      return rets_out_;
    }
  Value*& buf = param_bufs_[id.v];
  if (!buf) {
    auto* type = llvm::ArrayType::get(param_word(), std::max(1u, words(static_cast<u32>(m_.ir.symbols[id.v].size))));
    buf = a_.its ? its_slot(type) : new_alloca(type, "param");
  }
  return buf;
}

llvm::Type* Emitter::param_word() {
  return m_.facts.one_thread ? static_cast<llvm::Type*>(b_.getInt32Ty()) : vec_type(32);
}
llvm::Value* Emitter::param_place(Value* buf, u32 word) {
  return b_.CreateConstInBoundsGEP1_64(param_word(), buf, word);
}
llvm::Value* Emitter::load_param_word(Value* buf, u32 word) {
  return b_.CreateAlignedLoad(param_word(), param_place(buf, word), llvm::Align(m_.facts.one_thread ? 4 : 64));
}
void Emitter::store_param_word(Value* buf, u32 word, Value* x) {
  b_.CreateAlignedStore(x, param_place(buf, word), llvm::Align(m_.facts.one_thread ? 4 : 64));
}

V Emitter::load_param(Value* buf, u32 byte, u32 bits) {
  if (m_.facts.one_thread) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), buf, byte);
    return make_uniform(b_.CreateAlignedLoad(int_type(bits), p, llvm::Align(std::min(4u, bits / 8))),
                        uniform_shape(bits));
  }
  Value* low = load_param_word(buf, byte / 4);
  if (bits == 32) return make_varying(low, 32);
  if (bits < 32) {
    Value* s = b_.CreateLShr(low, llvm::ConstantInt::get(vec_type(32), (byte % 4) * 8));
    return make_varying(b_.CreateTrunc(s, vec_type(bits)), bits);
  }
  Value* r = b_.CreateZExt(low, vec_type(bits));
  for (u32 k = 1; k < bits / 32; ++k) {
    Value* w = b_.CreateZExt(load_param_word(buf, byte / 4 + k), vec_type(bits));
    r = b_.CreateOr(r, b_.CreateShl(w, llvm::ConstantInt::get(vec_type(bits), 32 * k)));
  }
  return make_varying(r, bits);
}

// Is the parameter stored at several places, each for its lanes? Else the whole vector may be written: lanes outside the mask
// do not read it.
bool Emitter::stored_in_parts(ir::SymId id) {
  if (a_.its) return true;
  if (!param_stores_counted_) {
    param_stores_counted_ = true;
    std::set<std::pair<u32, i64>> seen;
    for (const ir::Block& b : f_.blocks)
      for (const ir::Inst& i : b.insts) {
        if (i.ops.empty() || i.ops[0].kind != Operand::Kind::Address || i.ops[0].value.valid() || !i.ops[0].sym.valid())
          continue;
        if (!(isa::info(i.form).effects & isa::kStore)) continue;
        if (!seen.insert({i.ops[0].sym.v, i.ops[0].imm}).second) stored_in_parts_.insert(i.ops[0].sym.v);
      }
  }
  return stored_in_parts_.count(id.v);
}

void Emitter::store_param(Value* buf, u32 byte, V v, u32 bits, bool blend) {
  v = canon(v);  // who reads the words knows nothing of NaNs yet to be made canonical
  if (m_.facts.one_thread) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), buf, byte);
    b_.CreateAlignedStore(at(v).base, p, llvm::Align(std::min(4u, bits / 8)));
    return;
  }
  auto put = [&](u32 word, Value* x) {
    if (!mask_full_ && blend) x = b_.CreateSelect(mask_vec(), x, load_param_word(buf, word));
    store_param_word(buf, word, x);
  };
  Value* x = vec(v);
  if (bits < 32) {
    const u32 shift = (byte % 4) * 8;
    Value* old = load_param_word(buf, byte / 4);
    const u64 field = mask_bits(bits) << shift;
    Value* keep = b_.CreateAnd(old, llvm::ConstantInt::get(vec_type(32), ~field & 0xffffffffu));
    Value* add = b_.CreateShl(b_.CreateZExt(x, vec_type(32)), llvm::ConstantInt::get(vec_type(32), shift));
    return put(byte / 4, b_.CreateOr(keep, add));
  }
  for (u32 k = 0; k < bits / 32; ++k) {
    Value* part = bits == 32 ? x
                             : b_.CreateTrunc(k ? b_.CreateLShr(x, llvm::ConstantInt::get(vec_type(bits), 32 * k)) : x,
                                              vec_type(32));
    put(byte / 4 + k, part);
  }
}

void Emitter::unimplemented(const std::string& what, const SrcLoc& loc) {
  Value* text = b_.CreateGlobalString(what, "what", 0, m_.module.get());
  V none;
  V where = make_uniform(b_.CreatePtrToInt(text, b_.getInt64Ty()), uniform_shape(64));
  call_rt(RtFn::Unimplemented, {where, imm(64, loc.line)}, {}, &none, false);
}

// Argument k of a call as a value.
V Emitter::call_arg(const ir::Inst::Call& call, std::size_t k, u32 bits, u32 byte) {
  const Operand& o = call.args[k];
  if (o.kind == Operand::Kind::Symbol && m_.ir.symbols[o.sym.v].space == isa::Space::Param) {
    u32 offset = 0;
    Value* buf = param_buffer(o.sym, &offset);
    return load_param(buf, offset + byte, bits);
  }
  return read(o, bits == 64 ? isa::Type::b64 : isa::Type::b32);
}

bool Emitter::call_builtin(const std::string& name, const ir::Inst::Call& call) {
  auto result = [&](V v, u32 bits) {
    if (call.rets.empty()) return;
    const Operand& o = call.rets[0];
    if (o.kind == Operand::Kind::Symbol) {
      u32 offset = 0;
      Value* buf = param_buffer(o.sym, &offset);
      store_param(buf, offset, resize(v, bits, false), bits);
    } else {
      write(o, v);
    }
  };
  V r;
  if (name == "vprintf") {
    call_rt(RtFn::Vprintf, {call_arg(call, 0, 64), call_arg(call, 1, 64)}, {32}, &r, false);
    result(r, 32);
  } else if (name == "malloc") {
    call_rt(RtFn::Malloc, {call_arg(call, 0, 64)}, {64}, &r, false);
    result(r, 64);
  } else if (name == "free") {
    call_rt(RtFn::Free, {call_arg(call, 0, 64)}, {}, &r, false);
  } else if (name == "__assertfail") {
    call_rt(RtFn::Assert,
            {call_arg(call, 0, 64), call_arg(call, 1, 64), call_arg(call, 2, 32), call_arg(call, 3, 64),
             call_arg(call, 4, 64)},
            {}, &r, false);
  } else if (device::DeviceApiForm form; device::find_device_api(name, form)) {
    V a[device::kDeviceApiWords];
    for (u32 k = 0; k < device::kDeviceApiWords; ++k) {
      const device::DeviceApiWord& w = form.word[k];
      a[k] = k < form.words ? call_arg(call, w.argument, w.bytes * 8, w.byte) : imm(64, 0);
    }
    call_rt(RtFn::DeviceApi, {imm(64, form.number), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]},
            {form.result_bytes * 8}, &r, false);
    result(r, form.result_bytes * 8);
  } else {
    return false;
  }
  return true;
}

void Emitter::call_function(const ir::Function& callee, const ir::Inst::Call& call, Value* m) {
  const u32 index = m_.ir.symbols[callee.sym.v].func.v;
  llvm::Function* target = m_.function(index);
  auto buffer = [&](const std::vector<ir::Param>& ps, const char* name) -> Value* {
    return new_alloca(llvm::ArrayType::get(param_word(), std::max(1u, total_words(ps))), name);
  };
  auto copy = [&](Value* to, u32 to_word, Value* from, u32 from_word, u32 n) {
    for (u32 k = 0; k < n; ++k) store_param_word(to, to_word + k, load_param_word(from, from_word + k));
  };
  Value* args = buffer(callee.params, "args");
  Value* rets = buffer(callee.rets, "rets");
  for (std::size_t k = 0; k < call.args.size() && k < callee.params.size(); ++k) {
    const Operand& o = call.args[k];
    const ir::Param& p = callee.params[k];
    if (o.kind == Operand::Kind::Symbol && m_.ir.symbols[o.sym.v].space == isa::Space::Param) {
      u32 offset = 0;
      Value* buf = param_buffer(o.sym, &offset);
      copy(args, p.offset / 4, buf, offset / 4, words(p.size));
    } else {
      store_param(args, p.offset, read(o, p.type), std::max(8u, isa::bits_of(p.type)));
    }
  }
  b_.CreateCall(target, {ctx(), m, args, rets});
  for (std::size_t k = 0; k < call.rets.size() && k < callee.rets.size(); ++k) {
    const Operand& o = call.rets[k];
    const ir::Param& p = callee.rets[k];
    if (o.kind == Operand::Kind::Symbol) {
      u32 offset = 0;
      Value* buf = param_buffer(o.sym, &offset);
      // Only the lanes that called get new values.
      for (u32 w = 0; w < words(p.size); ++w) {
        Value* fresh = load_param_word(rets, p.offset / 4 + w);
        Value* lanes = b_.CreateBitCast(m, llvm::FixedVectorType::get(b_.getInt1Ty(), kWarpSize));
        if (!m_.facts.one_thread) fresh = b_.CreateSelect(lanes, fresh, load_param_word(buf, offset / 4 + w));
        store_param_word(buf, offset / 4 + w, fresh);
      }
    } else if (o.kind == Operand::Kind::Value) {
      written_.push_back({o.value, load_param(rets, p.offset, std::max(8u, isa::bits_of(p.type)))});
    }
  }
}

void Emitter::emit_call(const ir::Inst& i) {
  flush_stores();
  const ir::Inst::Call& call = i.call[0];
  if (call.callee.valid()) {
    ir::SymId id = call.callee;
    while (m_.ir.symbols[id.v].alias.valid()) id = m_.ir.symbols[id.v].alias;
    const ir::Symbol& s = m_.ir.symbols[id.v];
    const bool defined = s.func.valid() && m_.ir.functions[s.func.v].defined;
    if (!defined) {
      if (call_builtin(s.name, call)) return;
      unimplemented("call " + s.name + " (a function this program does not define)", i.loc);
      for (const Operand& o : call.rets)
        if (o.kind == Operand::Kind::Value) written_.push_back({o.value, imm(ir::bits_of(f_.regs[o.value.v]), 0)});
      return;
    }
    call_function(m_.ir.functions[s.func.v], call, mask());
  } else {
    // Indirect: try each function whose address is taken; lanes that match none call nothing known.
    V target = read(call.target, isa::Type::u64);
    Value* rest = new_alloca(b_.getInt32Ty(), "icall");
    b_.CreateStore(mask(), rest);
    const Value* was = mask_;
    const bool was_full = mask_full_;
    std::size_t n_args = call.args.size(), n_rets = call.rets.size();
    std::vector<std::pair<ir::ValueId, Value*>> out_slots;
    for (const Operand& o : call.rets)
      if (o.kind == Operand::Kind::Value)
        out_slots.push_back({o.value, new_alloca(vec_type(ir::bits_of(f_.regs[o.value.v])), "iret")});
    for (auto& [id, slot] : out_slots)  // nothing comes in from before the call, around a loop least of all
      b_.CreateStore(llvm::Constant::getNullValue(vec_type(ir::bits_of(f_.regs[id.v]))), slot);
    for (u32 f : m_.address_taken) {
      const ir::Function& callee = m_.ir.functions[f];
      if (!callee.defined || callee.params.size() != n_args || callee.rets.size() != n_rets) continue;
      Value* eq;
      V address = symbol_address(callee.sym, 0);
      eq = b_.CreateICmpEQ(vec(target), vec(address));
      Value* m = b_.CreateAnd(b_.CreateBitCast(eq, b_.getInt32Ty()), b_.CreateLoad(b_.getInt32Ty(), rest));
      auto* yes = Block::Create(c_, "icall", out_);
      auto* next = Block::Create(c_, "icall.next", out_);
      b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), yes, next);
      b_.SetInsertPoint(yes);
      set_mask(m, false);
      b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), rest), b_.CreateNot(m)), rest);
      written_.clear();
      call_function(callee, call, m);
      for (auto& [id, v] : written_)
        for (auto& [want, slot] : out_slots)
          if (want == id) {
            Value* x = vec(resize(v, ir::bits_of(f_.regs[id.v]), false));
            b_.CreateStore(b_.CreateSelect(mask_vec(), x, b_.CreateLoad(x->getType(), slot)), slot);
          }
      b_.CreateBr(next);
      b_.SetInsertPoint(next);
      set_mask(const_cast<Value*>(was), was_full);
    }
    written_.clear();
    for (auto& [id, slot] : out_slots)
      written_.push_back(
          {id, make_varying(b_.CreateLoad(vec_type(ir::bits_of(f_.regs[id.v])), slot), ir::bits_of(f_.regs[id.v]))});
    Value* left = b_.CreateLoad(b_.getInt32Ty(), rest);
    auto* bad = Block::Create(c_, "icall.bad", out_);
    auto* ok = Block::Create(c_, "icall.ok", out_);
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt32(0)), bad, ok);
    b_.SetInsertPoint(bad);
    set_mask(left, false);
    V none;
    call_rt(RtFn::BadIndirectCall, {target}, {}, &none, false);
    b_.CreateBr(ok);
    b_.SetInsertPoint(ok);
    set_mask(const_cast<Value*>(was), was_full);
  }
  if (m_.functions_exit) {  // the callee may have ended some lanes
    Value* alive = b_.CreateLoad(b_.getInt32Ty(),
                                 b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(device::WarpCtx, live)));
    b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), live_), alive), live_);
    set_mask(b_.CreateAnd(mask(), alive), false);
  }
}

}  // namespace us::codegen
