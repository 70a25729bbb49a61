// SPDX-License-Identifier: Apache-2.0
// Textures: what the kernel that samples them has written may not be in their cache.
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

void LaunchChecker::image(const probe::Who& who, const probe::Image& i) {
  const std::lock_guard held(process_.lock);
  at(who);
  if (i.kind != probe::Image::Kind::Sample) return;
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  for (const probe::Range& r : i.touched) {
    if (r.space != probe::Space::Global || !process_.allocations.live(r.begin)) continue;
    for (u64 word = r.begin & ~u64{3}; word < r.begin + r.bytes; word += 4) {
      const Cell c = process_.global.look(word);
      if (!written_here(c)) continue;
      raise(Check::RaceNc, {actor(who, lane, "texture fetch"), written_by(c)},
            object_kind(probe::Space::Global, r.begin),
            object_text(probe::Space::Global, r.begin, static_cast<u32>(r.bytes), nullptr),
            {"a texture may return what its cache held before the kernel began: no barrier or fence reaches it"},
            "Fetch it in a later kernel, or load it.");
      return;
    }
  }
}

}  // namespace us::sanitizer
