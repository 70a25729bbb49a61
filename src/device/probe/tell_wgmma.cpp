// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/functions/rt.h"
#include "device/probe/tell.h"

namespace us::device {

// The warp's rows of a, and all of b.
void tell_wgmma_issue(Warp& w, u32 lanes, const MmaCode& code, u64 a, u64 b, const u64* registers) {
  const Cta& c = *w.home;
  const u64 base = u64{c.cluster_rank} * kCtaSharedStride;
  const u8* const shared = c.cluster_window + base;
  std::vector<u32> chunks;
  WgmmaTerms terms;
  terms.limit = {c.grid->shared_end, false, &chunks};
  terms.open(code, code.tile);
  terms.read_a(w.warp_id % 4, shared, a, registers);
  for (u32 t = 0; t < code.tile; ++t) terms.read_b(t, shared, b);
  std::ranges::sort(chunks);
  std::vector<probe::Range> rows;
  for (const u32 at : chunks)
    if (rows.empty() || rows.back().begin + rows.back().bytes < base + at)
      rows.push_back({probe::Space::Shared, base + at, 16});
    else
      rows.back().bytes = base + at + 16 - rows.back().begin;
  probe::Matrix m;
  m.operands = rows;
  w.listener->matrix(who(w, lanes), m);
}

void tell_wgmma(Warp& w, u32 lanes, probe::Matrix::Kind kind, u32 left) {
  probe::Matrix m;
  m.kind = kind, m.left = left;
  w.listener->matrix(who(w, lanes), m);
}

}  // namespace us::device
