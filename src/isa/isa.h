// SPDX-License-Identifier: Apache-2.0
// Facts of the PTX ISA as data: types, modifier tokens, special registers, state spaces and instruction forms.
// One row of instructions.inc is one form as the PTX manual prints it; everything else is derived from the row.
#pragma once
#include <array>
#include <bitset>
#include <string_view>

#include "base/types.h"

namespace us::isa {

enum class Type : u8 {
  None,
#define US_TYPE(id, name, bits, cls) id,
#include "isa/types.inc"
#undef US_TYPE
  Count
};
enum class TypeClass : u8 { None, Untyped, Unsigned, Signed, Float, Packed, Pred };
u32 bits_of(Type);  // 1 for pred, 8..128 otherwise
TypeClass class_of(Type);
std::string_view name_of(Type);         // "u32"
Type type_from(std::string_view name);  // Type::None if not a type
inline bool is_signed(Type t) { return class_of(t) == TypeClass::Signed; }
inline bool is_float(Type t) { return class_of(t) == TypeClass::Float; }

// Modifier tokens: every dotted word that is not a type ("rn", "sat", "shared::cta", "L2::128B", "v4", ...).
enum class Tok : u16 {
  None,
#define US_TOK(id, spelling) id,
#include "isa/tokens.inc"
#undef US_TOK
  Count
};
std::string_view name_of(Tok);
Tok tok_from(std::string_view spelling);  // Tok::None if unknown
using TokSet = std::bitset<static_cast<std::size_t>(Tok::Count)>;

enum class Space : u8 { Generic, Global, Shared, SharedCluster, Local, Const, Param, Reg };
std::string_view name_of(Space);

enum class SReg : u8 {
  None,
#define US_SREG(id, name, type, comps) id,
#include "isa/sregs.inc"
#undef US_SREG
  Count
};
struct SRegInfo {
  std::string_view name;  // "tid" (components x, y, z by suffix), "laneid"
  Type type;
  u8 components;  // 1, or 4 for .x .y .z .w vectors
};
const SRegInfo& info(SReg);
SReg sreg_from(std::string_view name_without_percent_and_component);

// What an instruction does besides computing its destinations; drives probe class, scheduling and legality.
enum Effect : u32 {
  kPure = 0,
  kLoad = 1u << 0,        // reads memory
  kStore = 1u << 1,       // writes memory
  kAtomic = 1u << 2,      // read-modify-write
  kConvergent = 1u << 3,  // warp-collective: .sync with a membermask, or needs the other lanes
  kYield = 1u << 4,       // may block the warp (barriers, waits): kernel needs a fibre
  kSpin = 1u << 5,        // a loop around it may be a wait for another thread (volatile/atomic/try_wait/nanosleep)
  kControl = 1u << 6,     // branch, call, ret, exit, trap
  kSide = 1u << 7,        // any other side effect: must not be removed, executes under the exec mask
  kBarrier = 1u << 8,     // one of the 16 barriers of a CTA; its number is the first source
  kClusterBarrier = 1u << 9,
  kCopy = 1u << 10,    // issues an asynchronous copy, store or reduction
  kOrders = 1u << 11,  // orders threads or what they see, and is no barrier: fences, mbarriers, griddepcontrol
};

// Of pure instructions, written in the same column: which sources decide the answer, whatever the others are.
enum Carry : u32 {
  kCarriesNothing = 0,
  kCarries = 1u << 16,        // each
  kCarriesTimes = 1u << 17,   // either of the first two where the other is a literal but 0, and a third
  kCarriesShifted = 1u << 18  // the first where the second is a literal
};
inline constexpr u32 kCarry = kCarries | kCarriesTimes | kCarriesShifted;

enum class Form : u16 {
  Unknown,  // text kept; a launch that reaches it fails by name
#define US_INST(id, pattern, operands, effects, semantics) id,
#include "isa/instructions.inc"
#undef US_INST
  Count
};
struct FormInfo {
  std::string_view id;
  std::string_view pattern;   // see isa/README.md: "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32"
  std::string_view operands;  // "d,a,b": see isa/README.md
  u32 effects;
  Carry carry;
  std::string_view semantics;  // name of the semantics function, "none" when not implemented yet
  std::string_view needs;      // what a modelled device lacks for it; empty: nothing
  u8 dests;                    // number of leading destination operands (derived from `operands`)
};
const FormInfo& info(Form);
std::string need(Form);  // " (needs ...)", or nothing: for messages

// A dotted mnemonic matched against the table.
struct Match {
  Form form = Form::Unknown;
  TokSet toks;
  std::array<Type, 4> types{};  // in the order written
  u8 type_count = 0;
};
// `mnemonic` is the text as written ("mad.lo.s32"). On failure form is Unknown and `expected` (if given) gets a message
// that names the nearest pattern.
Match match(std::string_view mnemonic, std::string* expected = nullptr);

}  // namespace us::isa
