// SPDX-License-Identifier: Apache-2.0
// The builder interface: instruction semantics are written once against it (codegen/semantics/*), and three builders
// run them: llvm/ emits 32-lane vector code, eval/ computes on plain arrays, shape/ computes only shapes (uniform,
// pattern, varying) for the divergence analysis.
//
// A V is one value per lane of a warp: `bits` wide (1, 8, 16, 32, 64, 128), floats as their bits. All arithmetic
// methods are lane-wise and free of side effects; they may compute garbage in inactive lanes but never trap. Memory,
// atomics and runtime calls execute under the current execution mask, which the driver of the builder has set (guard
// included).
#pragma once
#include <functional>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "device/abi/context_words.h"
#include "device/abi/probe_code.h"
#include "device/abi/rt_args.h"
#include "ir/ir.h"
#include "numerics/atomic.h"
#include "probe/counts.h"
#include "probe/detour.h"
#include "probe/quick.h"

namespace us::numerics {
enum class Approx : u8;
}
namespace us::device {
struct MmaCode;
}
namespace us::codegen {

using device::kMaxRtArgs, device::kMaxRtResults;

struct V {
  u32 id = 0;  // 0 = none
  explicit operator bool() const { return id != 0; }
};

// Shl/LShr/AShr: amount >= width is handled as PTX does (clamped). Div/Rem by 0: div and rem -> all ones;
// INT_MIN / -1 -> INT_MIN, rem 0.
enum class Bin : u8 {
  Add,
  Sub,
  Mul,
  UDiv,
  SDiv,
  URem,
  SRem,
  And,
  Or,
  Xor,
  Shl,
  LShr,
  AShr,
  UMin,
  UMax,
  SMin,
  SMax,
  MulHiU,
  MulHiS
};
enum class Un : u8 { Not, Neg, PopCount, Clz, Ctz, BitReverse, ByteSwap, Abs };  // Clz/Ctz of 0 = width
enum class ICmp : u8 { Eq, Ne, ULt, ULe, UGt, UGe, SLt, SLe, SGt, SGe };
enum class FT : u8 { F16, BF16, F32, F64 };
inline u32 bits_of(FT t) { return t == FT::F64 ? 64 : t == FT::F32 ? 32 : 16; }
enum class FBin : u8 {
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max
};  // IEEE, round to nearest even. Min/Max: PTX min/max (NaN loses, -0 < +0)
enum class FUn : u8 { Sqrt, Floor, Ceil, Trunc, Rint };                                   // Rint: nearest even
enum class FCmp : u8 { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };  // as PTX names them

// How a memory instruction addresses and orders. 32-bit V addresses are offsets in a shared window.
enum class Order : u8 { Weak, Volatile, Relaxed, Acquire, Release, AcqRel, SeqCst };
enum class Scope : u8 { Cta, Cluster, Gpu, Sys };
struct MemRef {
  isa::Space space = isa::Space::Generic;
  V addr;          // 64 or 32 bits wide; none = absolute `offset` within the space (param, shared)
  i64 offset = 0;  // bytes, added to addr
  u32 bits = 32;   // element width in memory: 8..128
  u32 count = 1;   // 1, 2, 4, 8
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  u32 align = 0;     // bytes the ISA requires: bits/8*count; 0: not to be tested
  ir::ValueId base;  // addr is this register, if any, plus base_offset
  i64 base_offset = 0;
  bool nc = false;                 // ld.global.nc
  bool param_of_function = false;  // Space::Param: parameter of a device function / call, not of the entry
  ir::SymId param;                 // Space::Param: which variable
};
using AtomOp = numerics::AtomicOp;

// A runtime function that takes N arguments: any other does not compile.
template <std::size_t N>
struct RtFnOf {
  device::RtFn fn;
  consteval RtFnOf(device::RtFn f) : fn(f) {
    if (!device::takes(f, N)) throw "the row in rt_functions.inc has another number of arguments";
  }
};
// Arguments of a call: none, or as many as there are.
struct RtOperands : std::span<const V> {
  RtOperands() = default;
  RtOperands(const V* first, std::size_t count) : span(first, count) {}
};
// The widths of the results that a call wants.
struct RtResultBits : std::span<const u32> {
  RtResultBits() = default;
  RtResultBits(std::initializer_list<u32> bits) : span(bits.begin(), bits.size()) {}
  RtResultBits(const u32* first, std::size_t count) : span(first, count) {}
  template <std::size_t N>
  RtResultBits(const u32 (&bits)[N]) : span(bits) {}
};

class Builder {
 public:
  virtual ~Builder() = default;

  // Values
  virtual u32 width(V) = 0;                // bits
  virtual V imm(u32 bits, u64 value) = 0;  // the same in all lanes
  virtual V undef(u32 bits) { return imm(bits, 0); }
  virtual V bin(Bin, V a, V b) = 0;  // equal widths (shift amounts: any width, read as unsigned)
  virtual V un(Un, V a) = 0;
  virtual V icmp(ICmp, V a, V b) = 0;              // -> 1 bit
  virtual V select(V cond, V a, V b) = 0;          // cond 1 bit
  virtual V resize(V a, u32 bits, bool sign) = 0;  // truncate, or zero/sign extend
  virtual V fbin(FBin, FT, V a, V b) = 0;
  virtual V fma(FT, V a, V b, V c) = 0;  // one rounding
  virtual V fun(FUn, FT, V a) = 0;
  virtual V fcmp(FCmp, FT, V a, V b) = 0;
  virtual V fcvt(FT to, FT from, V a) = 0;               // round to nearest even; widening exact
  virtual V i2f(FT to, V a, bool sign) = 0;              // nearest even
  virtual V f2i(u32 bits, bool sign, FT from, V a) = 0;  // toward zero, saturating; NaN -> 0
  // A pure scalar function of numerics/functions.inc on every lane: the slow, always available way.
  virtual V lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) = 0;
  // Entry `index` of a constant table; its size is a power of two, and the index is taken modulo that.
  virtual V table(std::span<const u32> entries, V index) = 0;
  // A sum of numerics/approx.h, high * 2^grain + low, at the table entry and x in `place` (no other bits set). False:
  // this builder knows no better way than the operations above.
  struct Interpolated {
    V high, low;
  };
  virtual bool interpolate(numerics::Approx, V, Interpolated&) { return false; }
  // general(x), 32 bits each. Where ordinary(x) holds in every active lane, short_way(x) has the same value for less
  // work.
  using Operation = V (*)(Builder&, V);
  virtual V quick(V x, Operation, Operation, Operation general) { return general(*this, x); }
  virtual bool fast_math() const { return false; }  // --math=fast: approximate instructions need only keep their bounds
  // NaN results of F16, BF16 and F32 are canonical; F64 operations, and fcvt from and to F64, return a NaN operand made
  // quiet (0xfff8... if none was NaN). fcvt from BF16 to F32 only shifts. fbin/fma/fun/fcvt results are canonicalised
  // by the builder where they become observable; semantics code never needs to.

  // Warp
  virtual V lane_id() = 0;       // 32 bits
  virtual V active_mask() = 0;   // 32 bits, uniform: lanes executing this instruction
  virtual V ballot(V pred) = 0;  // 32 bits, uniform: active lanes whose pred is true
  // The lanes that take part with each lane in a .sync instruction with this membermask: see llvm/members.cpp.
  virtual V members(V membermask) = 0;
  virtual V shuffle(V src, V lane) = 0;  // value of src in lane (lane & 31); inactive source lanes: undefined
  virtual V thread_index(u32 k) = 0;     // 32 bits: %tid, k < 3
  virtual V context(device::ContextWord, u32 k) = 0;  // uniform: word k of that name (device/abi/context_words.h)

  // Memory
  virtual void load(const MemRef&, std::span<V> out) = 0;  // out.size() == count, each `bits` wide
  virtual void store(const MemRef&, std::span<const V> in) = 0;
  virtual V atomic(AtomOp, isa::Type, const MemRef&, V b, V c, bool result_used) = 0;  // c: Cas new value (b: compare)
  virtual void fence(Order, Scope) = 0;
  // 64 bits: address in the symbol's own space (shared/const/local/param: offset form as `mov` gives)
  virtual V symbol_address(ir::SymId, i64 offset) = 0;
  virtual V to_generic(isa::Space, V addr64) = 0;    // cvta
  virtual V from_generic(isa::Space, V addr64) = 0;  // cvta.to
  virtual V in_space(isa::Space, V addr64) = 0;      // 1 bit: does the generic address lie in that window? (isspacep)

  // A runtime function of device/abi/rt_functions.inc. args are widened to 64 bits; results come back in the given
  // widths. One call for the whole warp: see device/abi/abi.h. uniform_if_args: the result is the same in all lanes if
  // all args are. The number of arguments is that of the row: of a list in braces the compiler sees to it, of others
  // the assertion.
  virtual void call_runtime(device::RtFn fn, std::span<const V> args, std::span<const u32> result_bits, V* results,
                            bool uniform_if_args) = 0;
  void call_rt(device::RtFn fn, RtOperands args, RtResultBits bits, V* results, bool uniform_if_args = false) {
    US_CHECK(device::takes(fn, args.size()) && device::gives(fn, bits.size()));
    call_runtime(fn, args, bits, results, uniform_if_args);
  }
  template <std::size_t N>
  void call_rt(std::type_identity_t<RtFnOf<N>> fn, const V (&args)[N], RtResultBits bits, V* results,
               bool uniform_if_args = false) {
    call_rt(fn.fn, {args, N}, bits, results, uniform_if_args);
  }

  // mma on registers; args as those of RtFn::Mma. False: this builder knows no better way than that.
  virtual bool multiply_registers(const device::MmaCode&, std::span<const V>, V*) { return false; }

  // Adds `each` for every active lane to a counter of a site (probe/counts.h); Counter::Lanes counts the warp too.
  virtual void count([[maybe_unused]] u32 site, probe::Counter, [[maybe_unused]] u32 each) {}

  // Strategy::Records: a record of the instruction at the site; `at`: of an access, 64 bits.
  virtual void record([[maybe_unused]] u32 site, probe::RecordCode, [[maybe_unused]] V at) {}
  // ... of lanes (1 bit each) that take a detour inside of it, if there are any.
  virtual void record_lanes([[maybe_unused]] u32 site, probe::Detour, [[maybe_unused]] V lanes) {}
  // Semantics ask first whether anybody wants to know of detours.
  virtual bool records() const { return false; }
  virtual void detour(probe::Detour, [[maybe_unused]] V lanes) {}
  // ... and what it touches besides what it loads and stores.
  virtual void touch(probe::RecordCode::Kind, const MemRef&) {}

  // Strategy::Events: what an instruction does that nothing above says. Semantics ask first whether anybody listens.
  using Tell = std::function<void()>;
  virtual bool listens() const { return false; }
  virtual void note(device::NoteCode, [[maybe_unused]] V value) {}
  void note(device::NoteCode c) { note(c, {}); }
  // WarpCtx::probe_site is from now on this.
  virtual void note_site([[maybe_unused]] u32 site) {}
  // What stands at probe::Quick::settled of the current instruction's access, and `tell` where that is not so.
  virtual u32 settled() const { return 0; }
  virtual bool closed() const { return false; }  // nobody needs to hear of it
  virtual void unless_settled([[maybe_unused]] u32 bytes, [[maybe_unused]] V at, const Tell& tell) { tell(); }
  // `tell` where WarpCtx::quick leaves lanes of this access (probe/quick.h), or where that is not asked.
  virtual void unless_quick([[maybe_unused]] u32 site, probe::QuickAccess, [[maybe_unused]] V at, const Tell& tell) {
    tell();
  }
  // `tell` where a collective has not all 32 lanes for members, or not all execute it, or where that is not asked.
  virtual void unless_whole([[maybe_unused]] V members, const Tell& tell) { tell(); }

  // Operands of the current instruction
  virtual V read(const ir::Operand&,
                 isa::Type as) = 0;  // as.bits wide: registers are truncated or zero-extended, literals converted
  virtual void write(const ir::Operand&,
                     V) = 0;  // V is extended (zero) / truncated to the register's width; Sink: nothing
  virtual u32 register_bits(ir::ValueId) const = 0;  // declared width of a register of this function
  virtual const ir::Module& module() const = 0;

  // Shorthands
  V add(V a, V b) { return bin(Bin::Add, a, b); }
  V sub(V a, V b) { return bin(Bin::Sub, a, b); }
  V mul(V a, V b) { return bin(Bin::Mul, a, b); }
  V and_(V a, V b) { return bin(Bin::And, a, b); }
  V or_(V a, V b) { return bin(Bin::Or, a, b); }
  V xor_(V a, V b) { return bin(Bin::Xor, a, b); }
  V not_(V a) { return un(Un::Not, a); }
  V zext(V a, u32 bits) { return resize(a, bits, false); }
  V sext(V a, u32 bits) { return resize(a, bits, true); }
};

// What a semantics function sees: the builder and the instruction, with operands fetched by position.
struct Sem {
  Builder& b;
  const ir::Inst& i;
  // Operand k as type t (default: the instruction's first type).
  V in(u32 k, isa::Type t) const { return b.read(i.ops[k], t); }
  V in(u32 k) const { return in(k, i.type()); }
  bool has_operand(u32 k) const { return k < i.ops.size() && i.ops[k].kind != ir::Operand::Kind::None; }
  // Destination k gets v; if t is a signed type narrower than the register, v is sign-extended, otherwise
  // zero-extended.
  void out(u32 k, V v, isa::Type t) const;
  void out(u32 k, V v) const { out(k, v, i.type()); }
  bool has(isa::Tok t) const { return i.has(t); }
};
using SemFn = void (*)(const Sem&);
SemFn semantics_of(const ir::Inst&);
SemFn semantics_of(isa::Form);  // nullptr: no semantics yet (launch fails by name)

}  // namespace us::codegen
