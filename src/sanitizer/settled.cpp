// SPDX-License-Identifier: Apache-2.0
// Accesses that the program's barriers order with all they could race with (probe/quick.h). They are looked at until
// the whole of their variable has been written: then nothing is left to say about them.
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;

namespace {
constexpr u32 kMostLooks = 256;  // of a CTA
}

// `offset` lies in the variable, which has this number.
bool LaunchChecker::settles(Cta& cta, u64 offset, u32 number) {
  const u64 bit = u64{1} << (number - 1);
  if (cta.settled & bit) return true;
  if (!settling_ || cluster_size_ > 1 || cta.looked >= kMostLooks) return false;
  const probe::Symbol* const v = shared_symbol(offset);
  const Planes& planes = cta.shared.planes();
  if (!v || v->begin % 4 || v->bytes % 4 || !planes.holds(v->begin, v->bytes)) return false;
  cta.looked++, cta.plain = false;
  for (u64 at = v->begin, next; at < v->begin + v->bytes; at = next) {
    const Block& b = planes.block(at);
    next = b.w == kWide ? at + 4 : at - at % kBlockBytes + kBlockBytes;
    const u32 w = planes.writer(at);
    if (w == 0) return false;
    if (w != kWide) continue;
    if (cta.shared.is_split(at)) return false;
    const Cell c = cta.shared.look(at);
    const Side* const side = cta.shared.side_if(c);
    if (!c.written() || (side && side->bytes) || c.flags & Cell::kMbarrier) return false;
  }
  cta.settled |= bit;
  return true;
}

// A strong one. Lanes at other addresses than the first are in the variable too if they are in bounds.
bool LaunchChecker::settled(const At& p, const probe::Who& who, const probe::Access& a) {
  if (a.space != Space::Shared || !who.lanes || a.count != 1) return false;
  const Span s = span(who.lanes, a);
  RowActor nobody;
  return (s.bits & (a.bytes - 1)) == 0 && quick_bounds(who, a, s, nobody) && settles(*p.cta, s.lowest, a.settled);
}

// An access left its variable: it may have been to another one.
void LaunchChecker::unsettle() {
  if (!settling_) return;
  settling_ = false;
  each_cluster([](const Cluster& cluster) {
    for (const auto& c : cluster.ctas)
      if (c) c->settled = 0;
  });
}

}  // namespace us::sanitizer
