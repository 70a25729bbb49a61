// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/params.h"

#include <algorithm>

namespace us::codegen {

using ir::Operand;

// The buffer a .param variable lives in, or null for parameters of the entry (then *offset is its place in the block).
llvm::Value* Params::buffer(ir::SymId id, u32* offset) {
  *offset = 0;
  for (const ir::Param& p : f_.params)
    if (p.sym == id) {
      *offset = p.offset;
      return f_.entry ? nullptr : s_.args_in;
    }
  for (const ir::Param& p : f_.rets)
    if (p.sym == id) {
      *offset = p.offset;
      return s_.rets_out;
    }
  Value*& buf = param_bufs_[id.v];
  if (!buf) {
    auto* type = llvm::ArrayType::get(word_type(), std::max(1u, words(static_cast<u32>(m_.ir.symbols[id.v].size))));
    buf = s_.frame->slot_alloca(false, type, "param");
  }
  return buf;
}

llvm::Type* Params::word_type() {
  return m_.facts.one_thread ? static_cast<llvm::Type*>(b_.getInt32Ty()) : v_.vec_type(32);
}

llvm::Value* Params::word_place(Value* buf, u32 word) { return b_.CreateConstInBoundsGEP1_64(word_type(), buf, word); }

llvm::Value* Params::load_word(Value* buf, u32 word) {
  return b_.CreateAlignedLoad(word_type(), word_place(buf, word), llvm::Align(m_.facts.one_thread ? 4 : 64));
}

void Params::store_word(Value* buf, u32 word, Value* x) {
  b_.CreateAlignedStore(x, word_place(buf, word), llvm::Align(m_.facts.one_thread ? 4 : 64));
}

V Params::load(Value* buf, u32 byte, u32 bits) {
  if (m_.facts.one_thread) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), buf, byte);
    return v_.make_uniform(b_.CreateAlignedLoad(v_.int_type(bits), p, llvm::Align(std::min(4u, bits / 8))),
                           uniform_shape(bits));
  }
  Value* low = load_word(buf, byte / 4);
  if (bits == 32) return v_.make_varying(low, 32);
  if (bits < 32) {
    Value* s = b_.CreateLShr(low, llvm::ConstantInt::get(v_.vec_type(32), (byte % 4) * 8));
    return v_.make_varying(b_.CreateTrunc(s, v_.vec_type(bits)), bits);
  }
  Value* r = b_.CreateZExt(low, v_.vec_type(bits));
  for (u32 k = 1; k < bits / 32; ++k) {
    Value* w = b_.CreateZExt(load_word(buf, byte / 4 + k), v_.vec_type(bits));
    r = b_.CreateOr(r, b_.CreateShl(w, llvm::ConstantInt::get(v_.vec_type(bits), 32 * k)));
  }
  return v_.make_varying(r, bits);
}

// Is the parameter stored at several places, each for its lanes? Else the whole vector may be written: lanes outside
// the mask do not read it.
bool Params::stored_in_parts(ir::SymId id) {
  if (s_.frame->lanes_apart()) return true;
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

void Params::store(Value* buf, u32 byte, V v, u32 bits, bool blend) {
  v = v_.canon(v);  // who reads the words knows nothing of NaNs yet to be made canonical
  if (m_.facts.one_thread) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), buf, byte);
    b_.CreateAlignedStore(v_.at(v).base, p, llvm::Align(std::min(4u, bits / 8)));
    return;
  }
  auto put = [&](u32 word, Value* x) {
    if (!s_.mask_full() && blend) x = b_.CreateSelect(s_.mask_vec(), x, load_word(buf, word));
    store_word(buf, word, x);
  };
  Value* x = v_.vec(v);
  if (bits < 32) {
    const u32 shift = (byte % 4) * 8;
    Value* old = load_word(buf, byte / 4);
    const u64 field = mask_bits(bits) << shift;
    Value* keep = b_.CreateAnd(old, llvm::ConstantInt::get(v_.vec_type(32), ~field & 0xffffffffu));
    Value* add = b_.CreateShl(b_.CreateZExt(x, v_.vec_type(32)), llvm::ConstantInt::get(v_.vec_type(32), shift));
    return put(byte / 4, b_.CreateOr(keep, add));
  }
  for (u32 k = 0; k < bits / 32; ++k) {
    Value* part = bits == 32
                      ? x
                      : b_.CreateTrunc(k ? b_.CreateLShr(x, llvm::ConstantInt::get(v_.vec_type(bits), 32 * k)) : x,
                                       v_.vec_type(32));
    put(byte / 4 + k, part);
  }
}

}  // namespace us::codegen
