// SPDX-License-Identifier: Apache-2.0
#include "timing/what_if.h"

#include <algorithm>
#include <bit>

#include "timing/accesses.h"

namespace us::timing {
namespace {

using probe::Record, probe::RecordCode, probe::Space;

constexpr double kUnbounded = 1e9;  // times the rate

u32 lowest(u32 lanes) { return static_cast<u32>(std::countr_zero(lanes)); }

// As many lanes, beside each other.
u32 dense(u32 lanes) {
  const int n = std::popcount(lanes);
  return n == 32 ? ~0u : (1u << n) - 1;
}

// The part of what the access takes that it would take if lanes lay well.
double needed(const Record& r) {
  if (r.code.space == Space::Shared) {
    const Wavefronts w = wavefronts_of(r);
    return static_cast<double>(w.passes) / std::max(1u, w.wavefronts);
  }
  const Sectors s = sectors_of(r);
  return static_cast<double>(s.ideal) / std::max(1u, s.sectors);
}

}  // namespace

template <class F>
void Changed::for_each(F&& f) {
  for (TimedCta& c : ctas_)
    for (TimedWarp& w : c.warps)
      for (auto& of_site : w.accesses)
        for (TimedAccess& a : of_site) f(a);
}

Changed::Changed(WhatIf what, const TimedLaunch& l, const std::vector<TimedCta>& ctas, const Parameters& p)
    : launch_(l), ctas_(ctas), parameters_(p) {
  switch (what) {
    case WhatIf::Coalesced:
      rewrite_all(Space::Global);
      return;
    case WhatIf::NoBankConflicts:
      rewrite_all(Space::Shared);
      return;
    case WhatIf::OneMoreCta:
      any_ = ctas.size() > l.resident;
      ++launch_.resident;
      return;
    case WhatIf::FastMemory:
      open_memory();
      return;
    case WhatIf::FastPipes:
      for (Row& r : launch_.code.rows) {
        if (r.pipe == Pipe::None || r.pipe == Pipe::Memory) continue;
        r.interval = 0, any_ = true;
      }
      return;
  }
}

// Loads and stores whose lanes could lie beside each other; atomics stay at their places.
void Changed::rewrite(TimedAccess& a, Space space) {
  Record r;
  probe::read_record(a.words, r);
  using Kind = RecordCode::Kind;
  const bool moves = r.code.kind == Kind::Read || r.code.kind == Kind::Write || r.code.kind == Kind::CopyRead ||
                     r.code.kind == Kind::CopyWrite;
  if (!moves || r.code.space != space || !r.lanes) return;
  const double part = needed(r);
  if (part >= 1) return;
  a.cost *= static_cast<float>(part);
  const u64 first = r.address(lowest(r.lanes)) / kLineBytes * kLineBytes;
  r.code.addresses = RecordCode::Addresses::Row;
  const u64 high = r.code.pack() | r.warp;
  records_.push_back({r.site | u64{dense(r.lanes)} << 32, r.cta | high << 32, first});
  a.words = records_.back().data();
  any_ = true;
}

void Changed::rewrite_all(Space space) {
  for_each([&](TimedAccess& a) { rewrite(a, space); });
}

// Rates are beyond all need, and accesses take nothing of DRAM and of slices of L2; latencies stay.
void Changed::open_memory() {
  any_ = true;
  Parameters& p = parameters_;
  for (double* rate : {&p.dram_rate, &p.l2_read, &p.l2_sm_read, &p.l2_sm_write}) *rate *= kUnbounded;
  p.store_packet = 0, launch_.store_share = launch_.atomic_share = 0;
  for_each([](TimedAccess& a) { a.cost = 0; });
}

}  // namespace us::timing
