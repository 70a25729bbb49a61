// SPDX-License-Identifier: Apache-2.0
#include "ir/sites.h"

namespace us::ir {

void number_sites(Module& m) {
  m.sites = 0;
  for (Function& f : m.functions)
    for (Block& b : f.blocks) {
      for (Inst& i : b.insts) i.site = m.sites++;
      b.term.site = b.term.written ? m.sites++ : kNoSite;
    }
}

std::vector<Site> sites(const Module& m) {
  std::vector<Site> all(m.sites);
  for (const Function& f : m.functions)
    for (const Block& b : f.blocks) {
      for (const Inst& i : b.insts)
        if (i.site != kNoSite) all[i.site] = {&f, &i, nullptr};
      if (b.term.site != kNoSite) all[b.term.site] = {&f, nullptr, &b.term};
    }
  return all;
}

std::vector<bool> block_begins(const Module& m) {
  std::vector<bool> begins(m.sites);
  for (const Function& f : m.functions)
    for (const Block& b : f.blocks) {
      bool first = true;
      const auto note = [&](u32 site) {
        if (first && site != kNoSite) begins[site] = true;
        first = first && site == kNoSite;
      };
      for (const Inst& i : b.insts) {
        note(i.site);
        first = first || !i.call.empty();
      }
      note(b.term.site);
    }
  return begins;
}

}  // namespace us::ir
