// SPDX-License-Identifier: Apache-2.0
#include "driver/code/registers.h"

#include <algorithm>

namespace us::driver {
namespace {

constexpr u32 kNever = ~0u;
constexpr u32 kBase = 8;  // what the ABI and addresses take

u32 words(ir::Width w) { return w == ir::Width::Pred ? 0 : std::max(1u, ir::bits_of(w) / 32); }

struct Live {
  u32 first = kNever, last = 0;
  void mention(u32 at) {
    first = std::min(first, at);
    last = at;
  }
};

}  // namespace

u32 estimate_registers(const ir::Function& f) {
  std::vector<Live> live(f.regs.size());
  u32 at = 0;
  const auto mention = [&](ir::ValueId v) {
    if (v.v < live.size()) live[v.v].mention(at);
  };
  const auto mention_operand = [&](auto&& self, const ir::Operand& o) -> void {
    if (o.value.valid()) mention(o.value);
    for (const auto& e : o.elems) self(self, e);
  };
  for (const auto& b : f.blocks) {
    for (const auto& i : b.insts) {
      for (const auto& o : i.ops) mention_operand(mention_operand, o);
      mention_operand(mention_operand, i.guard);
      for (const auto& c : i.call) {
        mention_operand(mention_operand, c.target);
        for (const auto& a : c.args) mention_operand(mention_operand, a);
        for (const auto& r : c.rets) mention_operand(mention_operand, r);
      }
      ++at;
    }
    mention_operand(mention_operand, b.term.cond);
    ++at;
  }
  std::vector<i32> change(at + 2, 0);
  for (std::size_t v = 0; v < live.size(); ++v) {
    if (live[v].first == kNever) continue;
    change[live[v].first] += static_cast<i32>(words(f.regs[v]));
    change[live[v].last + 1] -= static_cast<i32>(words(f.regs[v]));
  }
  i32 now = 0, most = 0;
  for (const i32 c : change) most = std::max(most, now += c);
  const u32 count = kBase + static_cast<u32>(most);
  return std::clamp((count + 7) / 8 * 8, 16u, 255u);
}

}  // namespace us::driver
