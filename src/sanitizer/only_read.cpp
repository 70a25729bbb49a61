// SPDX-License-Identifier: Apache-2.0
// Memory that a launch only reads: no store of the kernel is meant for it, by its text (LaunchInfo::stored_to), nothing
// runs beside the launch, and nothing in it tells others what its threads have done. Its loads cannot race in the
// launch, whoever makes them; what follows the launch needs to know that they were made, not by whom. A store that
// comes there nevertheless ends that, for all of the launch.
#include <algorithm>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

void LaunchChecker::expect_stores() {
  if (!info_->stored_to || !info_->barriers_only || !after_all_ || process_.running != 1 || process_.aliases.any())
    return;
  for (const u64 at : *info_->stored_to)
    if (const Allocations::Block* b = process_.allocations.live(at)) stored_.push_back(b->begin);
  expects_ = true, begun_ = process_.begun;
}

bool LaunchChecker::only_read(const Allocations::Block& b) const {
  return expects_ && begun_ == process_.begun && !b.mapped && std::ranges::find(stored_, b.begin) == stored_.end();
}

void LaunchChecker::stores_to(u64 address) {
  if (!expects_) return;
  const Allocations::Block* const b = process_.allocations.live(address);
  if (b && !only_read(*b)) return;
  expects_ = false;
  process_.reads.ended_to_planes(process_.global.planes(), [](u64) { return true; });
  process_.begun++;
  process_.changes.note();  // what was found out about places is looked up again
  if (everybody_) process_.astray.insert(info_->id);
}

// Null: all is to be judged on the planes.
ReadMarks* LaunchChecker::marks_of(const Allocations::Block& b) {
  const bool written = !process_.options.uninitialised_global || process_.allocations.all_written(b.begin, b.end());
  if (!written || !only_read(b) || !process_.global.planes().holds(b.begin, b.bytes)) return nullptr;
  return process_.reads.find(launch_, everybody(), b.begin, b.bytes);
}

RowActor LaunchChecker::everybody() {
  if (!everybody_) {
    everybody_ = process_.segments.add({.cta = everybody_in(launch_)});
    process_.last_cta = ~u64{0};
  }
  RowActor me;
  me.segment = everybody_, me.floor = floor_.warps, me.copies = floor_.of_copies(), me.own = false, me.everybody = true;
  return me;
}

}  // namespace us::sanitizer
