// SPDX-License-Identifier: Apache-2.0
// Instructions across the lanes of a warp: shfl, vote, match, redux, activemask, elect. The driver of the builder has
// gathered the lanes that membermask names; lanes with another membermask may be active at the same time and are masked
// out here.
#include "codegen/semantics/common.h"

namespace us::codegen {

using device::RtFn;
using Kind = probe::Collective::Kind;

namespace {
// members: none without .sync
void tell(const Sem& s, Kind kind, V members, V source = {}) {
  Builder& b = s.b;
  if (!b.listens()) return;
  const device::CollectiveCode code{kind, static_cast<bool>(members)};
  const auto say = [&] {
    b.call_rt(RtFn::ProbeCollective,
              {b.imm(64, code.pack()), members ? members : imm32(b, 0), source ? source : imm32(b, 0)}, {}, nullptr);
  };
  members&& s.i.site != ir::kNoSite ? b.unless_whole(members, say) : say();
}
}  // namespace

void sem_shfl(const Sem& s) {
  Builder& b = s.b;
  const bool sync = s.has_operand(5);
  if (sync) b.members(s.in(5, Type::u32));
  V src = s.in(2, Type::b32), five = imm32(b, 31), lane = b.lane_id();
  V c = s.in(4, Type::u32), amount = b.and_(s.in(3, Type::u32), five);
  V segment = b.and_(b.bin(Bin::LShr, c, imm32(b, 8)), five), clamp = b.and_(c, five);
  V low = b.and_(lane, segment), bound = b.or_(low, b.and_(clamp, b.not_(segment)));
  V from, inside;
  if (s.has(Tok::up)) {
    from = b.sub(lane, amount);
    inside = b.icmp(ICmp::SGe, from, bound);
  } else {
    from = s.has(Tok::down)   ? b.add(lane, amount)
           : s.has(Tok::bfly) ? b.xor_(lane, amount)
                              : b.or_(low, b.and_(amount, b.not_(segment)));
    inside = b.icmp(ICmp::SLe, from, bound);
  }
  const V source = b.select(inside, from, lane);
  tell(s, Kind::Shuffle, sync ? s.in(5, Type::u32) : V{}, source);
  s.out(0, b.shuffle(src, source), Type::b32);
  if (s.has_operand(1)) s.out(1, inside, Type::pred);
}

namespace {
void vote(const Sem& s, V members) {
  Builder& b = s.b;
  V pred = s.in(1, Type::pred), yes = b.and_(b.ballot(pred), members);
  if (s.has(Tok::ballot)) return s.out(0, yes, Type::b32);
  V present = b.and_(b.active_mask(), members), none = imm32(b, 0);
  V any = b.icmp(ICmp::Ne, yes, none), all = b.icmp(ICmp::Eq, yes, present);
  s.out(0, s.has(Tok::any) ? any : s.has(Tok::all) ? all : b.or_(all, b.not_(any)), Type::pred);
}
}  // namespace
void sem_vote(const Sem& s) {
  tell(s, Kind::Vote, {});
  vote(s, imm32(s.b, ~0u));
}
void sem_vote_sync(const Sem& s) {
  tell(s, Kind::Vote, s.in(2, Type::u32));
  vote(s, s.b.members(s.in(2, Type::u32)));
}

namespace {
void match(const Sem& s, bool all) {
  Builder& b = s.b;
  const Type t = s.i.type();
  const u32 k = all ? 2 : 1;
  V r[2];
  tell(s, Kind::Match, s.in(k + 1, Type::u32));
  b.call_rt(RtFn::Match, {s.in(k, t), b.members(s.in(k + 1, Type::u32)), imm32(b, all), imm32(b, isa::bits_of(t))},
            {32, 1}, r);
  s.out(0, r[0], Type::b32);
  if (all && s.has_operand(1)) s.out(1, r[1], Type::pred);
}
}  // namespace
void sem_match_any(const Sem& s) { match(s, false); }
void sem_match_all(const Sem& s) { match(s, true); }

void sem_redux(const Sem& s) {
  const bool sign = isa::is_signed(s.i.type());
  const u32 op = s.has(Tok::add)    ? 0
                 : s.has(Tok::and_) ? 1
                 : s.has(Tok::or_)  ? 2
                 : s.has(Tok::xor_) ? 3
                                    : (s.has(Tok::min) ? 4 : 5) + (sign ? 2 : 0);
  V r;
  tell(s, Kind::Redux, s.in(2, Type::u32));
  s.b.call_rt(RtFn::Redux, {s.in(1), s.b.members(s.in(2, Type::u32)), imm32(s.b, op)}, {32}, &r);
  s.out(0, r);
}

void sem_activemask(const Sem& s) {
  if (s.i.site != ir::kNoSite) tell(s, Kind::ActiveMask, {});  // otherwise a pass wrote it
  s.out(0, s.b.active_mask(), Type::b32);
}

// elect.sync d|p, membermask: the lowest member leads
void sem_elect(const Sem& s) {
  Builder& b = s.b;
  tell(s, Kind::Elect, s.in(2, Type::u32));
  V members = b.and_(b.members(s.in(2, Type::u32)), b.active_mask()), leader = b.un(Un::Ctz, members);
  s.out(0, leader, Type::b32);
  if (s.has_operand(1)) s.out(1, b.icmp(ICmp::Eq, leader, b.lane_id()), Type::pred);
}

}  // namespace us::codegen
