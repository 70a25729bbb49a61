// SPDX-License-Identifier: Apache-2.0
// Typed IR of one PTX module. Two forms of a function share these types: the register form that ptx/ produces (a
// ValueId names a PTX register and may be defined many times) and SSA (after ir/ssa: one definition, block parameters
// as phis).
//
//   Module ── Symbol*            variables of every space, functions, with initialisers and relocations
//          └─ Function* ── Block* ── Inst*   then one Terminator
#pragma once
#include <string>
#include <vector>

#include "isa/isa.h"

namespace us::ir {

template <class Tag>
struct Id {
  u32 v = ~0u;
  bool valid() const { return v != ~0u; }
  auto operator<=>(const Id&) const = default;
};
using ValueId = Id<struct ValueTag>;  // %r7
using BlockId = Id<struct BlockTag>;  // block3
using SymId = Id<struct SymTag>;      // @name
using FuncId = Id<struct FuncTag>;

// Register width classes. Floats are their bits.
enum class Width : u8 { Pred, B8, B16, B32, B64, B128 };
inline u32 bits_of(Width w) {
  constexpr u32 t[] = {1, 8, 16, 32, 64, 128};
  return t[static_cast<int>(w)];
}
Width width_of(isa::Type);

struct Operand {
  enum class Kind : u8 {
    None,
    Value,    // register; `negated` for !p
    Imm,      // integer literal: imm holds the bits (two's complement, 64 bit)
    ImmF32,   // 0fXXXXXXXX: imm holds the f32 bits
    ImmF64,   // 0dXXXXXXXXXXXXXXXX or a decimal literal: imm holds the f64 bits
    Symbol,   // address of a variable or function, plus imm
    SReg,     // special register `sreg`, component `comp` (0 = x)
    Address,  // [base + imm]: base is `value` if valid, else `sym` if valid, else absolute
    Vector,   // {a, b, ..}: `elems`
    Sink,     // _
  };
  Kind kind = Kind::None;
  bool negated = false;
  isa::SReg sreg = isa::SReg::None;
  u8 comp = 0;
  ValueId value;
  SymId sym;
  i64 imm = 0;
  std::vector<Operand> elems;  // Vector: its elements. `d|p` destinations are two consecutive operands.
};

inline constexpr u32 kNoSite = ~u32{0};

// A second value for memory instructions etc. is just the next operand: operands stand in the order of the row's
// `operands` column, optional ones that are absent have Kind::None, so operand k of a form always means the same.
struct Inst {
  isa::Form form = isa::Form::Unknown;
  isa::TokSet toks;
  std::array<isa::Type, 4> types{};
  u8 type_count = 0;
  std::vector<Operand> ops;
  Operand guard;  // Kind::Value (with negated) or None
  std::vector<Operand>
      merge;   // SSA only, guarded only: value of each defined register when the guard is false (in def order)
  SrcLoc loc;  // CUDA source line from .loc when there is one, else the PTX line (file == 0)
  std::vector<Operand> roots;  // registers whose values are tested on behalf of its accesses
  struct Late {                // wgmma whose results come late (codegen/lower/late_results.h)
    bool named = false;        // ... and go to registers that have keys
    std::vector<u32> keys;     // a product's: of each destination
  } late;
  std::string text;    // Form::Unknown: the mnemonic; otherwise empty
  u32 site = kNoSite;  // see sites.h
  // Form call: callee and its signature
  struct Call {
    SymId callee;                     // direct; else ops[..] Value `target`
    Operand target;                   // indirect: register
    u32 proto = ~0u;                  // index into Module::protos (indirect), ~0 for direct
    std::vector<Operand> args, rets;  // Symbol (a .param variable), Value or Imm
  };
  std::vector<Call> call;  // 0 or 1 element
  bool has(isa::Tok t) const { return toks[static_cast<std::size_t>(t)]; }
  isa::Type type(int k = 0) const { return types[static_cast<std::size_t>(k)]; }
};

struct Phi {
  ValueId dest;
  std::vector<Operand> in;  // one per predecessor, in the order of Block::preds; Kind::None = undefined
};

struct Terminator {
  enum class Kind : u8 { Br, CondBr, Switch, Exit, Ret, Trap, Unreachable };
  Kind kind = Kind::Exit;
  bool uni = false;              // bra.uni
  bool written = false;          // an instruction of the program, not only where a block ends
  u32 site = kNoSite;            // see sites.h
  Operand cond;                  // CondBr: predicate (maybe negated); Switch: index
  std::vector<BlockId> targets;  // Br: {t}; CondBr: {taken, fallthrough}; Switch: by index
  SrcLoc loc;
};

struct Block {
  std::string label;  // may be empty
  std::vector<Phi> phis;
  std::vector<Inst> insts;
  Terminator term;
  std::vector<BlockId> preds;  // filled by ir/cfg
};

struct Param {
  std::string name;
  isa::Type type = isa::Type::b8;
  u32 size = 0, align = 1, offset = 0;  // bytes; offset in the parameter block
  SymId sym;                            // .param symbol that names it inside the body
};

struct Proto {
  std::string name;
  std::vector<Param> params, rets;
};

struct Function {
  std::string name;
  SymId sym;
  bool entry = false, defined = false, noreturn = false;
  std::vector<Param> params, rets;
  u32 param_bytes = 0;
  std::vector<Width> regs;             // by ValueId
  std::vector<u32> origin;             // by ValueId, in SSA form: the register whose version it is
  std::vector<std::string> reg_names;  // by ValueId, for messages and dumps; may be shorter than regs after SSA
  std::vector<Block> blocks;           // blocks[0] is the entry
  u32 maxntid[3] = {0, 0, 0}, reqntid[3] = {0, 0, 0}, minnctapersm = 0, maxnctapersm = 0, maxnreg = 0;
  u32 reqnctapercluster[3] = {0, 0, 0}, maxclusterrank = 0;
  bool explicitcluster = false, blocksareclusters = false;
  u32 local_bytes = 0;   // per thread: .local variables of this function
  u32 shared_bytes = 0;  // filled by layout: static shared of this entry and everything it calls
  bool ssa = false;
  SrcLoc loc;
  std::vector<std::string> pragmas;
};

struct Symbol {
  enum class Linkage : u8 { Internal, Visible, Extern, Weak, Common };
  enum class Kind : u8 { Variable, Function, Label };
  std::string name;
  Kind kind = Kind::Variable;
  isa::Space space = isa::Space::Global;
  Linkage linkage = Linkage::Internal;
  isa::Type type = isa::Type::b8;  // element type
  u32 align = 1;
  u64 size = 0;  // bytes; 0 with `unsized` for extern arrays []
  bool unsized = false, managed = false;
  u64 offset = 0;        // Local, Shared, Const, Param: offset in its space, after layout
  std::vector<u8> init;  // shorter than size: rest is zero
  struct Reloc {
    u64 offset;  // byte in init
    u8 bytes;    // 1..8
    u8 shift;    // for the mask forms 0xFF(x), 0xFF00(x): which byte
    SymId sym;
    i64 addend;
    bool generic;  // generic(x)
  };
  std::vector<Reloc> relocs;
  FuncId func;  // Kind::Function, or owner of a local/param/shared variable declared in a body
  SymId alias;  // .alias target
};

// A call that the front-end compiler inlined. Calls inside inlined functions form a chain by `at.inlined`.
struct InlinedCall {
  std::string function;  // the callee's mangled name
  SrcLoc at;             // of the call
  bool operator==(const InlinedCall&) const = default;
};

struct Module {
  std::string name;
  u64 hash[2] = {0, 0};  // of the PTX text, or of all texts linked; 0 = unknown (not cached)
  u32 version = 0;       // 90 for .version 9.0
  std::string target;    // "sm_90a"
  u32 sm = 0;            // 90
  bool texmode_independent = false, debug = false;
  std::vector<std::string> files;    // .file index -> path (index 0 unused)
  std::vector<InlinedCall> inlined;  // by SrcLoc::inlined (index 0 unused)
  u32 sites = 0;                     // see sites.h
  std::vector<Symbol> symbols;
  std::vector<Function> functions;
  std::vector<Proto> protos;
  std::vector<std::vector<SymId>> branch_tables;

  Function* find(const std::string& name);
  const Symbol* find_symbol(const std::string& name) const;
};

// How many operands, from the first on, an instruction of the table writes.
inline std::size_t answers_of(const Inst& i) { return i.call.empty() ? isa::info(i.form).dests : 0; }

// Visitors over registers of an instruction. `dests` is info(form).dests; vectors and addresses are walked.
// `I` is Inst or const Inst.
template <class I, class F>
void for_each_def(I& i, F&& f) {
  const int n = i.form == isa::Form::Unknown ? 0 : isa::info(i.form).dests;
  for (int k = 0; k < n && k < static_cast<int>(i.ops.size()); ++k) {
    auto& o = i.ops[static_cast<std::size_t>(k)];
    if (o.kind == Operand::Kind::Value) f(o.value);
    if (o.kind == Operand::Kind::Vector)
      for (auto& e : o.elems)
        if (e.kind == Operand::Kind::Value) f(e.value);
  }
  for (auto& c : i.call)
    for (auto& r : c.rets)
      if (r.kind == Operand::Kind::Value) f(r.value);
}
template <class O, class F>
void for_each_use_operand(O& o, F&& f) {
  if ((o.kind == Operand::Kind::Value || o.kind == Operand::Kind::Address) && o.value.valid()) f(o);
  for (auto& e : o.elems) for_each_use_operand(e, f);
}
template <class I, class F>
void for_each_use(I& i, F&& f) {  // f(Operand&): Value or Address whose .value is read
  const int n = i.form == isa::Form::Unknown ? 0 : isa::info(i.form).dests;
  for (int k = n; k < static_cast<int>(i.ops.size()); ++k) for_each_use_operand(i.ops[static_cast<std::size_t>(k)], f);
  if (i.guard.kind == Operand::Kind::Value) f(i.guard);
  for (auto& m : i.merge) for_each_use_operand(m, f);
  for (auto& r : i.roots) for_each_use_operand(r, f);
  for (auto& c : i.call) {
    for_each_use_operand(c.target, f);
    for (auto& a : c.args) for_each_use_operand(a, f);
  }
}
inline std::vector<BlockId> successors(const Block& b) { return b.term.targets; }

std::string to_text(const Function&);  // the dump of --dump-after
std::string to_text(const Module&, const Inst&);
std::string to_text(const Module&, const Function&);  // with the names of symbols
std::string to_text(const Module&);

}  // namespace us::ir
