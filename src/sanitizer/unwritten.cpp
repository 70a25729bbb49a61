// SPDX-License-Identifier: Apache-2.0
// Values that nobody wrote: where they are read, what they decide, and where they are copied to.
//
// A copy is as unwritten as what was copied: the words that it goes to are taken for never written, and it is noted
// where it came from. Single threads' local memory is watched here alone. Only elements of which no byte was written
// count: a part of one may be padding.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;

namespace {

constexpr std::size_t kCopies = 1 << 20;  // words
constexpr u64 kBeside = 32;               // bytes before and behind
constexpr u64 kLocal = 1 << 18;           // bytes of a thread that are watched

bool is_word(const probe::Access& a, u64 address) { return a.bytes % 4 == 0 && address % 4 == 0; }

}  // namespace

bool LaunchChecker::is_written(Shadow& shadow, u64 begin, u32 bytes) {
  for (u64 at = begin; at < begin + bytes;) {
    if (!shadow.written(at)) {
      at += 4 - at % 4;
      continue;
    }
    if (shadow.is_split(at)) {
      if (shadow.look_byte(at).written()) return true;
      at++;
      continue;
    }
    const Cell& word = shadow.word(at);
    const Side* side = shadow.side_if(word);
    const bool split = side && side->bytes;
    if (split ? (*side->bytes)[at % 4].written() : word.written()) return true;
    at += split ? 1 : 4 - at % 4;
  }
  return false;
}

void LaunchChecker::unwritten(const At& p, Judge& judge, const probe::Access& a, u32 lane, u64 address, Cta* owner) {
  if (!owner && (!process_.options.uninitialised_global || !process_.allocations.any())) return;
  if (owner && address < kReserved) return;
  for (u32 e = 0; e < a.count; e++) {
    const u64 begin = address + u64{e} * a.bytes;
    if (is_written(judge.shadow(), begin, a.bytes)) continue;
    if (!owner && (process_.allocations.was_written(begin) || being_written(begin))) continue;
    const auto& copies = owner ? owner->copied : process_.copied;
    const auto copy = copies.find(begin & ~u64{3});
    read_unwritten(p, a, lane, e, begin, owner, copy == copies.end() ? nullptr : &copy->second);
  }
}

// By a copy under way that may be over: a race, if any. One that comes behind this launch has written nothing.
bool LaunchChecker::being_written(u64 address) const {
  return std::ranges::any_of(process_.writing, [&](const auto& w) {
    const auto holds = [&](const probe::Range& r) { return address - r.begin < r.bytes; };
    return std::ranges::any_of(w.second, holds) && !process_.order->launch_before(info_->id, w.first);
  });
}

// `copy`: it got there by one.
void LaunchChecker::read_unwritten(const At& p, const probe::Access& a, u32 lane, u32 element, u64 address, Cta* owner,
                                   const UnwrittenCopy* copy) {
  const probe::Consequence& then = consequence(who_->site, element);
  const UnwrittenCopy from = copy ? *copy
                                  : UnwrittenCopy{.cta = p.cta->key,
                                                  .site = who_->site,
                                                  .warp = who_->warp,
                                                  .lane = lane,
                                                  .address = address,
                                                  .space = a.space};
  if (a.space != Space::Local && element == 0) carry_unwritten(p, lane, from);
  bool moved = true;
  for (const auto& [site, e] : then.stored) {
    if (site == probe::kNoSite) moved = false;
    if (site != probe::kNoSite) p.warp->unwritten.note(site, e, lane, from), p.warp->ordinary.forget();
  }
  const bool decides = then.decides != probe::kNoSite;
  if (from.shuffled) {
    if (decides) undefined_used(*who_, lane, to_text(a), from);
    return;
  }
  if (!decides && (copy || a.space == Space::Local || (moved && is_padding(a, address, owner)))) return;
  std::vector<Actors> parties = {actor(*who_, lane, to_text(a))};
  if (decides) {
    parties.push_back(parties[0]);
    parties[1].site = then.decides, parties[1].action = "decides";
  }
  const bool shared = a.space == Space::Shared, local = a.space == Space::Local;
  std::string why = local    ? "the thread has not written it"
                    : shared ? "no thread of the block has written it since the block began"
                             : "neither a kernel nor a copy has written it since it was allocated";
  if (copy) {
    parties.push_back({.action = "copied", .site = from.site, .cta = from.cta, .warp = from.warp, .lane = from.lane});
    why = "what was written there is made of memory that nobody wrote";
  }
  raise(decides ? Check::Uninitialised : Check::UninitialisedLoad, parties,
        local ? "local" : object_kind(a.space, address),
        local ? fmt::format("{} bytes at offset {} of the thread's local memory", a.bytes, address)
              : object_text(a.space, address, a.bytes, owner),
        {std::move(why)}, "Write it before it is read.");
}

// A store or an atomic of what shuffles have made of it.
void LaunchChecker::unwritten_used(const probe::Who& who, u32 lane, const probe::Access& a, const UnwrittenCopy& from) {
  const bool shared = from.space == Space::Shared;
  raise(Check::Uninitialised,
        {actor(who, lane, to_text(a)),
         {.action = "read", .site = from.site, .cta = from.cta, .warp = from.warp, .lane = from.lane}},
        object_kind(from.space, from.address), object_text(from.space, from.address, 4, at(who).cta),
        {shared ? "no thread of the block has written it since the block began"
                : "neither a kernel nor a copy has written it since it was allocated",
         "Shuffles have brought what was read to the lane that uses it."},
        "Write it before it is read.");
}

// Somebody has written beside it: it may be a gap in a structure that is moved whole.
bool LaunchChecker::is_padding(const probe::Access& a, u64 address, Cta* owner) {
  Shadow& shadow = owner ? owner->shared : process_.global;
  const Allocations& all = process_.allocations;
  const Allocations::Block* const block = owner ? nullptr : all.live(address);
  const u64 first = owner   ? kReserved
                    : block ? block->begin
                            : address,
            end = owner   ? kReserved + info_->shared_static + info_->shared_dynamic
                  : block ? block->end()
                          : address + a.bytes;
  for (u64 at = std::max(first, address - std::min(address, kBeside)) & ~u64{3}; at < std::min(end, address + kBeside);
       at += 4) {
    if (shadow.written(at) || (!owner && all.was_written(at))) return true;
  }
  return false;
}

// A store of what was made of unwritten memory, behind its judgement.
void LaunchChecker::stores_unwritten(const At& p, const probe::Who& who, const probe::Access& a) {
  p.warp->unwritten.take(who.site, who.lanes, [&](u32 element, u32 lane, const UnwrittenCopy& from) {
    const u64 at = a.address[lane] + u64{element} * a.bytes;
    if (from.shuffled && a.space == Space::Global) return undefined_used(who, lane, to_text(a), from);
    if (element >= a.count || !is_word(a, at)) return;
    if (a.space == Space::Local) return local_written(*p.warp, lane, at, a.bytes, false);
    if (copies_ >= kCopies) return;
    copies_ += a.bytes / 4;
    Cta* owner = nullptr;
    u64 begin = at;
    if (a.space == Space::Shared) {
      if (at / probe::kCtaStride != who.rank) return;
      owner = p.cta, begin = at % probe::kCtaStride;
    } else if (process_.aliases.any() || !process_.allocations.live(at)) {
      return;
    }
    (owner ? owner->shared : process_.global).drop(begin, a.bytes);
    for (u64 word = begin; word < begin + a.bytes; word += 4) {
      (owner ? owner->copied : process_.copied)[word] = from;
      if (!owner && process_.allocations.was_written(word)) process_.allocations.discarded(word, 4);
    }
  });
}

void LaunchChecker::local_written(Warp& w, u32 lane, u64 address, u64 bytes, bool written) {
  if (address + bytes > kLocal) return;
  if (w.local.size() < (address + bytes + 3) / 4) w.local.resize((address + bytes + 3) / 4);
  for (u64 word = address / 4; word < (address + bytes + 3) / 4; word++) {
    const u32 bit = 1u << lane;
    w.local[word] = written ? w.local[word] | bit : w.local[word] & ~bit;
  }
}

void LaunchChecker::local(const At& p, const probe::Who& who, const probe::Access& a) {
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(rest));
    const u64 address = a.address[lane];
    if (!local_in_bounds(who, a, lane) || !info_->locals_known) continue;
    if (a.kind == probe::Access::Kind::Write) {
      local_written(*p.warp, lane, address, u64{a.bytes} * a.count, true);
      continue;
    }
    for (u32 e = 0; e < a.count; e++) {
      const u64 begin = address + u64{e} * a.bytes;
      if (begin + a.bytes > kLocal) continue;
      bool written = false;
      for (u64 word = begin / 4; word < (begin + a.bytes + 3) / 4; word++)
        written |= word < p.warp->local.size() && p.warp->local[word] >> lane & 1;
      if (!written) read_unwritten(p, a, lane, e, begin, nullptr, nullptr);
    }
  }
  if (a.kind == probe::Access::Kind::Write && !p.warp->unwritten.empty()) stores_unwritten(p, who, a);
}

}  // namespace us::sanitizer
