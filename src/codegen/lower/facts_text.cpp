// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/facts_text.h"

#include <fmt/format.h>

namespace us::codegen {
namespace {

std::string shape_text(const Shape& s) {
  if (s.constant() && s.uniform()) return fmt::format("= {}", s.value);
  if (s.uniform()) return "uniform";
  if (s.varying()) return "varying";
  const i64 step = s.offset(1) - s.offset(0);
  for (u32 l = 1; l < kWarpSize; ++l)
    if (s.offset(l) - s.offset(l - 1) != step) return "pattern";
  return fmt::format("pattern {:+} a lane", step);
}

template <class F>
void for_each_value(const ir::Function& f, F&& visit) {
  for (const ir::Block& b : f.blocks) {
    for (const ir::Phi& p : b.phis) visit(p.dest);
    for (const ir::Inst& i : b.insts) ir::for_each_def(i, visit);
  }
}

std::string analysis_text(const Lowered& l) {
  const Analysis& a = l.analysis;
  std::string s;
  if (a.its) s += fmt::format("; lanes wait for each other: {}\n", a.its_reason);
  for_each_value(l.function, [&](ir::ValueId v) {
    s += fmt::format("; %{} {}{}\n", v.v, shape_text(a.shapes[v.v]), a.shadow[v.v] ? ", each lane its last" : "");
  });
  for (u32 b = 0; b < l.function.blocks.size(); ++b)
    if (a.divergent[b] || a.guarded[b] || a.join[b])
      s += fmt::format("; block{}:{}{}{}\n", b, a.guarded[b] ? " under a mask" : "", a.divergent[b] ? " divides" : "",
                       a.join[b] ? " joins" : "");
  for (u32 k = 0; k < l.cfg.loops.size(); ++k)
    if (a.loop_diverges[k] || a.loop_spins[k])
      s += fmt::format("; loop of block{}:{}{}{}\n", l.cfg.loops[k].header, a.loop_diverges[k] ? " diverges" : "",
                       a.loop_spins[k] ? " waits" : "", a.spins_around[k] ? " around a barrier" : "");
  return s;
}

std::string blocks_text(const std::vector<u32>& regions) {
  std::string s;
  for (u32 r : regions) s += fmt::format(" {}", r);
  return s.empty() ? " none" : s;
}

std::string regions_text(const Lowered& l) {
  std::string s = "; same in the CTA:";
  for_each_value(l.function, [&](ir::ValueId v) {
    if (l.barrier_regions.same_in_cta[v.v]) s += fmt::format(" %{}", v.v);
  });
  s += "\n";
  for (u32 k = 0; k < l.barrier_regions.all.size(); ++k)
    s += fmt::format("; region {}: block{}, behind regions{}\n", k, l.barrier_regions.all[k].block,
                     blocks_text(l.barrier_regions.all[k].from));
  s += fmt::format("; the end: behind regions{}\n", blocks_text(l.barrier_regions.ending));
  return s + (l.barrier_regions.known ? "; all warps go the same way\n" : "; warps may go different ways\n");
}

std::string alignment_text(const Lowered& l) {
  std::string s;
  for_each_value(l.function, [&](ir::ValueId v) {
    const KnownBits& b = l.known_bits[v.v];
    if (!b.bits || b.root == v) return;
    s += b.root.valid() ? fmt::format("; %{} = %{} + {} modulo {}\n", v.v, b.root.v, b.add, 1u << b.bits)
                        : fmt::format("; %{} = {} modulo {}\n", v.v, b.add, 1u << b.bits);
  });
  return s;
}

std::string bounds_text(const ir::Module& m, const Lowered& l) {
  std::string s;
  for (const ir::Block& b : l.function.blocks)
    for (const ir::Inst& i : b.insts)
      for (const ir::Operand& o : i.ops) {
        const BoundsPlan::Key key{&i, o.value.v};
        if (o.kind != ir::Operand::Kind::Address) continue;
        if (l.bounds.covered.contains(key)) s += fmt::format("; {}: not tested\n", ir::to_text(m, i));
        if (const auto by = l.bounds.by_root.find(key); by != l.bounds.by_root.end())
          s += fmt::format("; {}: by %{}\n", ir::to_text(m, i), by->second.v);
      }
  return s;
}

std::string settled_text(const ir::Module& m, const Lowered& l) {
  std::string s;
  for (const ir::Block& b : l.function.blocks)
    for (const ir::Inst& i : b.insts)
      if (const auto at = l.settled.find(&i); at != l.settled.end())
        s += fmt::format("; {}: settled{}\n", ir::to_text(m, i),
                         at->second.closed   ? ", closed"
                         : at->second.inside ? ", inside"
                                             : "");
  return s;
}

std::string strides_text(const Lowered& l) {
  std::string s;
  for_each_value(l.function, [&](ir::ValueId v) {
    const Stride& by = l.strides[v.v];
    if (by.bytes)
      s += fmt::format("; %{} moves by {} to the next {}\n", v.v, by.bytes, by.of_grid ? "CTA" : "iteration");
  });
  return s;
}

}  // namespace

std::string facts_text(const ir::Module& m, const Lowered& l, Pass p) {
  static constexpr const char* forms[] = {"a warp", "all warps of a CTA", "a loop over the warps for each region",
                                          "blocks by a dispatcher"};
  switch (p) {
    case Pass::Analyze:
      return analysis_text(l);
    case Pass::Regions:
      return regions_text(l);
    case Pass::RegionLoops:
      return fmt::format("; a call runs {}\n", forms[static_cast<int>(l.form)]);
    case Pass::Alignment:
      return alignment_text(l);
    case Pass::Bounds:
      return bounds_text(m, l);
    case Pass::Settled:
      return settled_text(m, l);
    case Pass::InPlace:
      return l.in_place ? "; ordinary accesses are judged in place\n" : "";
    case Pass::Unheard:
      return l.unheard ? "; accesses of known cost are counted where nobody replays\n" : "";
    case Pass::Strides:
      return strides_text(l);
    default:
      return {};
  }
}

}  // namespace us::codegen
