// SPDX-License-Identifier: Apache-2.0
// Is there memory at the address, of this kind and alignment?
#include <fmt/format.h>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;

namespace {
constexpr u64 kFar = u64{1} << 40;  // bytes: no index goes astray that far
}

LaunchChecker::Actors LaunchChecker::actor(const probe::Who& who, u32 lane, std::string action) const {
  return {.action = std::move(action), .site = who.site, .cta = key(who.cta), .warp = who.warp, .lane = lane};
}

bool LaunchChecker::in_bounds(const At&, const probe::Who& who, const probe::Access& a, u32 lane, u64 address,
                              Cta* owner) {
  const u64 bytes = u64{a.bytes} * a.count;
  if (bytes && (bytes & (bytes - 1)) == 0 && address % bytes) {
    raise(Check::Misaligned, {actor(who, lane, to_text(a))}, object_kind(a.space, address),
          object_text(a.space, address, static_cast<u32>(bytes), owner),
          {fmt::format("an access of {} bytes needs an address that {} divides", bytes, bytes)});
    return true;
  }
  return a.space == Space::Shared ? shared_in_bounds(who, a, lane, address) : global_in_bounds(who, a, lane, address);
}

bool LaunchChecker::shared_in_bounds(const probe::Who& who, const probe::Access& a, u32 lane, u64 address) {
  const u64 bytes = u64{a.bytes} * a.count, end = kReserved + info_->shared_static + info_->shared_dynamic;
  std::string why;
  const probe::Symbol* const in = shared_symbol(address);
  if (in && address + bytes <= in->begin + in->bytes && address < kReserved) return true;  // the program asked for it
  if (address < kReserved) {
    why = "the first kilobyte of a block's shared memory is reserved for the system";
  } else if (address + bytes > end) {
    why = fmt::format("{} bytes behind the shared memory of the block ({} static and {} dynamic bytes)",
                      address + bytes - end, info_->shared_static, info_->shared_dynamic);
  } else if (const probe::Symbol* s = in; s && address < kReserved + info_->shared_static) {
    if (address + bytes <= s->begin + s->bytes) return made_well(who, a, lane, address);
    why = address < s->begin + s->bytes
              ? fmt::format("it begins in `{}` and ends behind it", s->name)
              : fmt::format("it lies {} bytes behind the end of `{}`", address - s->begin - s->bytes, s->name);
  } else {
    return made_well(who, a, lane, address);
  }
  raise(Check::BoundsShared, {actor(who, lane, to_text(a))}, object_kind(Space::Shared, address),
        fmt::format("{} bytes at offset {} of the shared memory", bytes, address), {why});
  return false;
}

// The block that an address lies in. What unordered work frees is judged by its order (free-pending), not by what came
// first this time: to this launch it is there.
const Allocations::Block* LaunchChecker::usable(u64 address) const {
  const Allocations& all = process_.allocations;
  if (const Allocations::Block* b = all.live(address)) return b;
  const Allocations::Block* const old = all.freed(address);
  return old && old->freed_by && !process_.order->node_before(old->freed_by, info_->id) ? old : nullptr;
}

bool LaunchChecker::global_in_bounds(const probe::Who& who, const probe::Access& a, u32 lane, u64 address) {
  const Allocations& all = process_.allocations;
  if (!all.any()) return true;
  const u64 bytes = u64{a.bytes} * a.count;
  const Allocations::Block* b = usable(address);
  if (b && address + bytes <= b->end()) return made_well(who, a, lane, address);
  if (b) address = b->end();
  no_memory(actor(who, lane, to_text(a)), address, bytes);
  return false;
}

// The first byte that is not there, and how many bytes were wanted.
void LaunchChecker::no_memory(Actors who, u64 address, u64 bytes) {
  const Allocations& all = process_.allocations;
  const Allocations::Block* b = all.live(address);
  const Allocations::Block* old = b ? nullptr : all.freed(address);
  const auto* near = b ? b : old ? old : all.nearest(address);
  std::string where;
  if (near) {
    const probe::Symbol* s = all.variable_at(near->begin);  // variables may share a block
    const std::string what = fmt::format("{} of {} bytes{}", to_text(near->owner), near->bytes,
                                         s && s->bytes == near->bytes ? " `" + s->name + "`" : "");
    const u64 distance = address < near->begin ? near->begin - address : address - near->begin;
    if (distance >= kFar) {
      where = "no global memory is near: local variables of another thread and pageable memory of the host are none";
    } else if (address < near->begin) {
      where = fmt::format("{} bytes before {}", near->begin - address, what);
    } else if (address >= near->end()) {
      where = fmt::format("{} bytes behind {}", address - near->end(), what);
    } else {
      where = fmt::format("offset {} of {}", address - near->begin, what);
    }
  }
  const std::string kind = near ? fmt::format("{:x}", near->begin) : "";
  std::vector<Actors> parties = {std::move(who)};
  if (old && old->by.known)
    parties.push_back(freed_by(old->by));
  else if (old && !old->freed.empty())
    parties.push_back({.action = "freed", .site = probe::kNoSite, .cta = 0, .warp = 0, .lane = 0, .host = &old->freed});
  raise(old ? Check::UseAfterFree : Check::BoundsGlobal, parties, kind,
        fmt::format("{} bytes at {:#x}", bytes, address), {where});
}

// The variable that the address at the site is made from, as the program's text says, or null.
const probe::Symbol* LaunchChecker::made_from(u32 site) {
  if (site == probe::kNoSite || !info_->made_from) return nullptr;
  if (site >= made_from_.size()) made_from_.resize(site + 1, kNotAsked);
  u32& n = made_from_[site];
  if (n == kNotAsked) n = info_->made_from(site);
  return n < info_->symbols.size() ? &info_->symbols[n] : nullptr;
}

// An address that is made from a variable stays in it.
bool LaunchChecker::made_well(const probe::Who& who, const probe::Access& a, u32 lane, u64 address) {
  const probe::Symbol* const s = made_from(who.site);
  const u64 bytes = u64{a.bytes} * a.count;
  if (!s || s->space != a.space || !s->bytes || (address >= s->begin && address + bytes <= s->begin + s->bytes))
    return true;
  const std::string where = address < s->begin ? fmt::format("{} bytes before `{}`", s->begin - address, s->name)
                                               : fmt::format("{} bytes behind the start of `{}`, which has {}",
                                                             address - s->begin, s->name, s->bytes);
  raise(a.space == Space::Const    ? Check::BoundsConst
        : a.space == Space::Shared ? Check::BoundsShared
                                   : Check::BoundsGlobal,
        {actor(who, lane, to_text(a))}, s->name, fmt::format("{} bytes at {:#x}", bytes, address),
        {fmt::format("its address is made from that of `{}` and lies {}", s->name, where)});
  return false;
}

bool LaunchChecker::local_in_bounds(const probe::Who& who, const probe::Access& a, u32 lane) {
  const u64 bytes = u64{a.bytes} * a.count, address = a.address[lane];
  if (!info_->local_bytes || address + bytes <= info_->local_bytes) return true;
  raise(Check::BoundsLocal, {actor(who, lane, to_text(a))}, "local",
        fmt::format("{} bytes at offset {} of the thread's local memory", bytes, address),
        {fmt::format("a thread has {} bytes", info_->local_bytes)});
  return false;
}

// Where the cells of an address are, of memory that has several; and was another address used before, without a
// fence?
u64 LaunchChecker::other_address(const At& p, const probe::Who& who, const probe::Access& a, u32 lane, u64 address,
                                 u32 segment) {
  const auto place = process_.aliases.of(address);
  if (!place) return address;
  const bool writes = a.kind != probe::Access::Kind::Read;
  const auto unfenced = [&](const Aliases::Use& u) {
    if (!u.segment || u.through == place->through || floor_.holds(u.segment)) return false;
    const Segment& s = process_.segments[u.segment];
    const WarpTime& time = p.warp->time;
    return s.launch() == launch_ && time.knows(lane, s, u.lane) && !time.pushed(lane, kAlias, s, u.lane);
  };
  for (u64 at = place->address & ~u64{3}; at < place->address + u64{a.bytes} * a.count; at += 4) {
    Aliases::Word& w = process_.aliases.word(at);
    const bool read = writes && unfenced(w.read);
    if (read || unfenced(w.written)) {
      const Aliases::Use& other = read ? w.read : w.written;
      const Segment& s = process_.segments[other.segment];
      raise(Check::ProxyAlias,
            {actor(who, lane, to_text(a)),
             {.action = read ? "read" : "write", .site = other.site, .cta = s.cta, .warp = s.slot, .lane = other.lane}},
            object_kind(a.space, address), object_text(a.space, address, a.bytes, nullptr),
            {fmt::format("the same memory was used at {:#x} before, and no fence.proxy.alias lies between",
                         other.through + (address - place->through))},
            "fence.proxy.alias between the two, by a thread that knows of the first.");
    }
    (writes ? w.written : w.read) = {segment, lane, who.site, place->through};
  }
  return place->address;
}

void LaunchChecker::wrong_rank(const probe::Who& who, u32 lane, u32 rank) {
  raise(Check::ClusterRank, {actor(who, lane, now_ ? to_text(*now_) : "access")}, "rank",
        fmt::format("shared memory of block rank {}", rank),
        {fmt::format("the cluster has {} block{}", cluster_size_, cluster_size_ == 1 ? "" : "s")});
}

void LaunchChecker::mbarrier_bytes(const probe::Who& who, u32 lane, std::string action, u64 address) {
  raise(Check::MbarrierBytes, {actor(who, lane, std::move(action))}, "mbarrier",
        fmt::format("an mbarrier object at offset {} of the shared memory", address & ~u64{7}),
        {"an object that was initialised and not invalidated may only be used by mbarrier operations"},
        "mbarrier.inval before its bytes are used again.");
}

}  // namespace us::sanitizer
