// SPDX-License-Identifier: Apache-2.0
// A place in a program as part of a record in a file.
#pragma once
#include "base/packed.h"
#include "probe/observer.h"

namespace us::probe {

inline void put_site(PackedRecord& out, const SiteInfo& s) {
  out.number(s.ptx_line).text(s.text).number(s.frames.size());
  for (const Frame& f : s.frames) out.text(f.file).number(f.line).number(f.column).text(f.function);
}

inline SiteInfo get_site(PackedReader& in) {
  SiteInfo s;
  s.ptx_line = static_cast<u32>(in.number());
  s.text = in.text();
  s.frames.resize(in.count());
  for (Frame& f : s.frames) {
    f.file = in.text();
    f.line = static_cast<u32>(in.number());
    f.column = static_cast<u32>(in.number());
    f.function = in.text();
  }
  return s;
}

}  // namespace us::probe
