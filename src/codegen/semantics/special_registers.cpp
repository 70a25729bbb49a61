// SPDX-License-Identifier: Apache-2.0
// Special registers (PTX ISA, chapter "Special Registers").
#include "codegen/semantics/special_registers.h"

#include "codegen/semantics/common.h"
#include "device/abi/context_words.h"

namespace us::codegen {
namespace {

using device::ContextWord;
using device::RtFn;
using isa::SReg;

V lanes_below(Builder& b) { return b.sub(b.bin(Bin::Shl, imm32(b, 1), b.lane_id()), imm32(b, 1)); }

V timer(Builder& b, RtFn fn, u32 shift, u32 bits) {
  V t;
  b.call_rt(fn, {}, {64}, &t, true);
  return b.resize(shift ? b.bin(Bin::LShr, t, imm32(b, shift)) : t, bits, false);
}

V cluster_ctas(Builder& b) {
  const auto dim = [&](u32 k) { return b.context(ContextWord::Cluster, k); };
  return b.mul(b.mul(dim(0), dim(1)), dim(2));
}

V used_shared(Builder& b) {
  return b.add(b.context(ContextWord::SharedStatic, 0), b.context(ContextWord::SharedDynamic, 0));
}

// A component of a vector; the fourth one is 0.
V component(Builder& b, ContextWord w, u32 k) { return k > 2 ? imm32(b, 0) : b.context(w, k); }

V in_clusters(Builder& b, ContextWord w, u32 k) {
  return k > 2 ? imm32(b, 0) : b.bin(Bin::UDiv, b.context(w, k), b.context(ContextWord::Cluster, k));
}

V of_launch(Builder& b, SReg r, u32 k) {
  switch (r) {
    case SReg::ntid:
      return component(b, ContextWord::Block, k);
    case SReg::ctaid:
      return component(b, ContextWord::Ctaid, k);
    case SReg::nctaid:
      return component(b, ContextWord::Grid, k);
    case SReg::warpid:
      return b.context(ContextWord::WarpId, 0);
    case SReg::nwarpid:
      return imm32(b, 64);
    case SReg::smid:
      return b.context(ContextWord::Smid, 0);
    case SReg::nsmid:
      return b.context(ContextWord::Nsmid, 0);
    case SReg::gridid:
      return b.context(ContextWord::GridId, 0);
    case SReg::current_graph_exec:
      return b.context(ContextWord::GraphExec, 0);
    case SReg::is_explicit_cluster:
      return b.icmp(ICmp::UGt, cluster_ctas(b), imm32(b, 1));
    case SReg::clusterid:
      return in_clusters(b, ContextWord::Ctaid, k);
    case SReg::nclusterid:
      return in_clusters(b, ContextWord::Grid, k);
    case SReg::cluster_ctaid:
      return component(b, ContextWord::ClusterCtaid, k);
    case SReg::cluster_nctaid:
      return component(b, ContextWord::Cluster, k);
    case SReg::cluster_ctarank:
      return b.context(ContextWord::ClusterRank, 0);
    case SReg::cluster_nctarank:
      return cluster_ctas(b);
    case SReg::reserved_smem_offset_begin:
    case SReg::reserved_smem_offset_0:
    case SReg::reserved_smem_offset_1:
      return imm32(b, 0);
    case SReg::reserved_smem_offset_end:
    case SReg::reserved_smem_offset_cap:
      return imm32(b, device::kReservedShared);
    case SReg::total_smem_size:
      return used_shared(b);
    case SReg::aggr_smem_size:
      return b.add(imm32(b, device::kReservedShared), used_shared(b));
    case SReg::dynamic_smem_size:
      return b.context(ContextWord::SharedDynamic, 0);
    default:
      return {};
  }
}

V of_lanes(Builder& b, SReg r) {
  const V lane = b.lane_id();
  switch (r) {
    case SReg::laneid:
      return lane;
    case SReg::lanemask_eq:
      return b.bin(Bin::Shl, imm32(b, 1), lane);
    case SReg::lanemask_lt:
      return lanes_below(b);
    case SReg::lanemask_le:
      return b.or_(lanes_below(b), b.bin(Bin::Shl, imm32(b, 1), lane));
    case SReg::lanemask_ge:
      return b.not_(lanes_below(b));
    case SReg::lanemask_gt:
      return b.not_(b.or_(lanes_below(b), b.bin(Bin::Shl, imm32(b, 1), lane)));
    default:
      return {};
  }
}

V of_clock(Builder& b, SReg r) {
  switch (r) {
    case SReg::clock:
      return timer(b, RtFn::Clock, 0, 32);
    case SReg::clock64:
      return timer(b, RtFn::Clock, 0, 64);
    case SReg::clock_hi:
      return timer(b, RtFn::Clock, 32, 32);
    case SReg::globaltimer:
      return timer(b, RtFn::GlobalTimer, 0, 64);
    case SReg::globaltimer_lo:
      return timer(b, RtFn::GlobalTimer, 0, 32);
    case SReg::globaltimer_hi:
      return timer(b, RtFn::GlobalTimer, 32, 32);
    default:
      return {};
  }
}

// %envreg0 .. %envreg31: the driver sets the first four. Performance counters %pm count nothing here.
V of_driver(Builder& b, SReg r, u32 bits) {
  const u32 n = static_cast<u32>(r) - static_cast<u32>(SReg::envreg0);
  return n < 4 ? b.context(ContextWord::Envreg, n) : b.imm(bits, 0);
}

}  // namespace

V special_register(Builder& b, SReg r, u32 k) {
  if (r == SReg::tid) return k > 2 ? imm32(b, 0) : b.thread_index(k);
  if (const V v = of_launch(b, r, k)) return v;
  if (const V v = of_lanes(b, r)) return v;
  if (const V v = of_clock(b, r)) return v;
  return of_driver(b, r, isa::bits_of(isa::info(r).type));
}

}  // namespace us::codegen
