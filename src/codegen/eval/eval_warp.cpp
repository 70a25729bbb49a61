// SPDX-License-Identifier: Apache-2.0
// Lanes, special registers, runtime calls and operands.
#include <bit>

#include "codegen/eval/eval_builder.h"

namespace us::codegen::eval {

using device::RtFn;
using isa::SReg;

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

namespace {
u64 component(const device::Dim3& d, u32 k) { return k == 0 ? d.x : k == 1 ? d.y : k == 2 ? d.z : 0; }
u64 thread_component(const device::WarpCtx& w, u32 lane, u32 k) {
  const device::Dim3& n = w.grid->block;
  const u32 t = w.warp_id * 32 + lane;
  return k == 0 ? t % n.x : k == 1 ? t / n.x % n.y : k == 2 ? t / n.x / n.y : 0;
}
u64 clusters(const device::WarpCtx& w, u32 k, const device::Dim3& d) {
  const u64 n = component(w.grid->cluster, k);
  return n ? component(d, k) / n : 0;
}
u64 lane_mask(SReg r, u32 lane) {
  const u64 eq = 1ull << lane, lt = eq - 1;
  switch (r) {
    case SReg::lanemask_eq:
      return eq;
    case SReg::lanemask_lt:
      return lt;
    case SReg::lanemask_le:
      return lt | eq;
    case SReg::lanemask_ge:
      return ~lt & kFullMask;
    default:
      return ~(lt | eq) & kFullMask;
  }
}
u64 warp_constant(const device::WarpCtx& w, SReg r, u32 k) {
  const device::GridCtx& g = *w.grid;
  const device::CtaCtx& c = *w.cta;
  const u32 cluster_ctas = g.cluster.x * g.cluster.y * g.cluster.z;
  const u32 used = g.shared_static + g.shared_dynamic;
  switch (r) {
    case SReg::ntid:
      return component(g.block, k);
    case SReg::ctaid:
      return component(c.ctaid, k);
    case SReg::nctaid:
      return component(g.grid, k);
    case SReg::warpid:
      return w.warp_id;
    case SReg::nwarpid:
      return 64;
    case SReg::smid:
      return c.smid;
    case SReg::nsmid:
      return g.nsmid;
    case SReg::gridid:
      return g.grid_id;
    case SReg::current_graph_exec:
      return g.graph_exec;
    case SReg::is_explicit_cluster:
      return cluster_ctas > 1;
    case SReg::clusterid:
      return clusters(w, k, c.ctaid);
    case SReg::nclusterid:
      return clusters(w, k, g.grid);
    case SReg::cluster_ctaid:
      return component(c.cluster_ctaid, k);
    case SReg::cluster_nctaid:
      return component(g.cluster, k);
    case SReg::cluster_ctarank:
      return c.cluster_rank;
    case SReg::cluster_nctarank:
      return cluster_ctas;
    case SReg::reserved_smem_offset_begin:
      return w.shared_base;
    case SReg::reserved_smem_offset_end:
      return w.shared_base + device::kReservedShared;
    case SReg::reserved_smem_offset_cap:
      return device::kReservedShared;
    case SReg::reserved_smem_offset_0:
      return w.shared_base;
    case SReg::reserved_smem_offset_1:
      return w.shared_base + device::kReservedShared / 2;
    case SReg::total_smem_size:
      return used;
    case SReg::aggr_smem_size:
      return used + device::kReservedShared;
    case SReg::dynamic_smem_size:
      return g.shared_dynamic;
    case SReg::envreg1:
      return g.envreg[1];
    case SReg::envreg2:
      return g.envreg[2];
    case SReg::envreg3:
      return g.envreg[3];
    default:
      return 0;  // performance counters, other %envreg
  }
}
}  // namespace

V EvalBuilder::sreg(SReg r, u32 comp) {
  const u32 bits = isa::bits_of(isa::info(r).type);
  auto timer = [&](RtFn fn, u32 shift) {
    V t;
    call_rt(fn, {}, {64}, &t, true);
    return resize(shift ? bin(Bin::LShr, t, imm(32, shift)) : t, bits, false);
  };
  switch (r) {
    case SReg::tid:
      return per_lane(bits, [&](u32 l) { return thread_component(warp_, l, comp); });
    case SReg::laneid:
      return lane_id();
    case SReg::lanemask_eq:
    case SReg::lanemask_lt:
    case SReg::lanemask_le:
    case SReg::lanemask_ge:
    case SReg::lanemask_gt:
      return per_lane(bits, [&](u32 l) { return lane_mask(r, l); });
    case SReg::clock:
    case SReg::clock64:
      return timer(RtFn::Clock, 0);
    case SReg::clock_hi:
      return timer(RtFn::Clock, 32);
    case SReg::globaltimer:
    case SReg::globaltimer_lo:
      return timer(RtFn::GlobalTimer, 0);
    case SReg::globaltimer_hi:
      return timer(RtFn::GlobalTimer, 32);
    default:
      return imm(bits, warp_constant(warp_, r, comp));
  }
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
      return resize(sreg(o.sreg, o.comp), bits, false);
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
