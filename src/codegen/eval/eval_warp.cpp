// SPDX-License-Identifier: Apache-2.0
// Lanes, special registers, runtime calls and operands.
#include <bit>
#include <cstring>

#include "codegen/eval/eval_builder.h"
#include "codegen/semantics/special_registers.h"

namespace us::codegen::eval {

using device::RtFn;

V EvalBuilder::lane_id() {
  return per_lane(32, [](u32 l) { return l; });
}
V EvalBuilder::active_mask() { return imm(32, exec_); }
V EvalBuilder::ballot(V pred) {
  u32 m = 0;
  each_active([&](u32 l) { m |= static_cast<u32>(get(pred, l)) << l; });
  return imm(32, m);
}
// The interpreter does not know what a compiler can tell: equal masks of the whole warp are as good as constants.
V EvalBuilder::members(V m) {
  bool stray = false, same = exec_ == warp_.live;
  each_active([&](u32 l) {
    stray |= !(get(m, l) >> l & 1);
    same &= get(m, l) == get(m, first_active());
  });
  if (stray && same) return active_mask();
  if (stray) call_rt(device::RtFn::Stray, {m}, {}, nullptr);
  return m;
}
V EvalBuilder::shuffle(V src, V lane) {
  return per_lane(width(src), [&](u32 l) { return get(src, static_cast<u32>(get(lane, l)) & 31); });
}
u32 EvalBuilder::first_active() const { return exec_ ? static_cast<u32>(std::countr_zero(exec_)) : 0; }
const ir::Function& EvalBuilder::function() const { return *lanes_[first_active()].stack.back()->function; }

V EvalBuilder::thread_index(u32 k) {
  const device::Dim3& n = warp_.grid->block;
  return per_lane(32, [&](u32 l) -> u64 {
    const u32 t = warp_.warp_id * 32 + l;
    return k == 0 ? t % n.x : k == 1 ? t / n.x % n.y : t / n.x / n.y;
  });
}

V EvalBuilder::context(device::ContextWord w, u32 k) {
  using In = device::ContextPlace::In;
  const device::ContextPlace at = device::place_of(w, k);
  const void* from = at.in == In::Grid  ? static_cast<const void*>(warp_.grid)
                     : at.in == In::Cta ? static_cast<const void*>(warp_.cta)
                                        : &warp_;
  u64 word = 0;
  std::memcpy(&word, static_cast<const u8*>(from) + at.offset, at.bits / 8);
  return imm(at.bits, word);
}

void EvalBuilder::call_runtime(RtFn fn, std::span<const V> args, std::span<const u32> result_bits, V* results, bool) {
  u64 in[kMaxRtArgs * 32] = {}, out[kMaxRtResults * 32] = {};
  u32 k = 0;
  for (V a : args) {
    for (u32 l = 0; l < 32; ++l) in[k * 32 + l] = get(a, l);
    ++k;
  }
  // A wait that blocks the warp would also block its other lanes.
  if (fn == RtFn::MbarTestWait)
    for (u32 l = 0; l < 32; ++l) in[2 * 32 + l] |= 4;
  if (exec_) warp_.rt[static_cast<std::size_t>(fn)](&warp_, exec_, in, out);
  k = 0;
  for (u32 bits : result_bits) {
    results[k] = per_lane(bits, [&](u32 l) { return out[k * 32 + l]; });
    ++k;
  }
}

u32 EvalBuilder::register_bits(ir::ValueId v) const { return ir::bits_of(function().regs[v.v]); }

namespace {
u64 literal(const ir::Operand& o, isa::Type as) {
  const u64 bits = static_cast<u64>(o.imm);
  if (o.kind == ir::Operand::Kind::ImmF32 && as == isa::Type::f64)
    return std::bit_cast<u64>(static_cast<double>(std::bit_cast<float>(static_cast<u32>(bits))));
  if (o.kind == ir::Operand::Kind::ImmF64 && as == isa::Type::f32)
    return std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(bits)));
  return bits;
}
}  // namespace

V EvalBuilder::read(const ir::Operand& o, isa::Type as) {
  using Kind = ir::Operand::Kind;
  const u32 bits = isa::bits_of(as);
  switch (o.kind) {
    case Kind::Value: {
      V out;
      Value& r = make(bits, out);
      const u64 mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
      each_active([&](u32 l) {
        const Word& w = lanes_[l].top().regs[o.value.v];
        r.lo[l] = (o.negated ? ~w.lo : w.lo) & mask;
        if (bits > 64) r.hi[l] = w.hi;
      });
      return out;
    }
    case Kind::Imm:
    case Kind::ImmF32:
    case Kind::ImmF64: {
      V out;
      Value& r = make(bits, out);
      r.lo.fill(literal(o, as) & (bits >= 64 ? ~0ull : (1ull << bits) - 1));
      return out;
    }
    case Kind::Symbol:
      return resize(symbol_address(o.sym, o.imm), bits, false);
    case Kind::SReg:
      return resize(special_register(*this, o.sreg, o.comp), bits, false);
    default:
      US_UNREACHABLE();
  }
}
void EvalBuilder::write(const ir::Operand& o, V v) {
  if (o.kind == ir::Operand::Kind::Sink || o.kind == ir::Operand::Kind::None) return;
  US_CHECK(o.kind == ir::Operand::Kind::Value);
  const u32 bits = register_bits(o.value);
  const Value& x = value(v);
  each_active([&](u32 l) {
    Word& w = lanes_[l].top().regs[o.value.v];
    w.lo = bits >= 64 ? x.lo[l] : x.lo[l] & ((1ull << bits) - 1);
    w.hi = bits > 64 && x.bits > 64 ? x.hi[l] : 0;
  });
}

}  // namespace us::codegen::eval
