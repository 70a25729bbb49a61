// SPDX-License-Identifier: Apache-2.0
// Who listens to a launch. A listener belongs to one launch; the device and compiled code call it, a tool implements
// it. With none, compiled code is the same as if this did not exist.
#pragma once
#include "probe/counts.h"
#include "probe/events.h"
#include "probe/quick.h"
#include "probe/records.h"
#include "probe/unheard.h"

namespace us::probe {

// What becomes of the events of a launch. Decides which code is compiled, so it is part of codegen's Variant.
enum class Strategy : u8 {
  Nothing,
  Counts,   // numbers beside each instruction (counts.h)
  Records,  // the same, and a record of each block and access (records.h)
  Events,   // each event is a call of the listener (events.h)
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual Strategy strategy() const = 0;
  // Of a worker thread, for all CTAs that it runs: indexed by site; stays where it is until the launch has ended.
  virtual Count* counts(u32) { return nullptr; }
  // Strategy::Records: of a worker thread, too. Records are the worker's that runs the CTA, in the order of each warp.
  virtual RecordBuffer* records(u32) { return nullptr; }
  // Asked when a CTA begins; by site. Null: each of its accesses is recorded.
  virtual Unheard* unheard(u32 /*worker*/, u32 /*cta: linear in the grid*/) { return nullptr; }
  virtual void ended() {}  // once, before anybody hears that the launch has ended

  // Strategy::Events. From worker threads, those of one cluster from one thread at a time.
  virtual void cta_begins(const Who&, u32 /*threads*/) {}
  virtual void cta_ends(const Who&) {}
  // `lanes` exit, or have exited; `live` are left. Site: the instruction, unless the executor of the code had none.
  virtual void exits(const Who&) {}
  virtual void access(const Who&, const Access&) {}
  // Asked behind an access of a warp that has none yet; null: the listener wants to be told of all. Until cta_ends.
  virtual Quick* quick(const Who&) { return nullptr; }
  // The same for all warps of a CTA that run in one call, when it begins; `to` has what no listener gives.
  virtual void quick_all(const Who& cta, u32 warps, Quick** to) {
    Who w = cta;
    for (w.warp = 0; w.warp < warps; w.warp++)
      if (Quick* q = quick(w)) to[w.warp] = q;
  }
  virtual void fence(const Who&, const Fence&) {}
  virtual void meeting(const Who&, const Meeting&) {}
  // Barrier 0, of all threads: every warp of the block, each whole, comes to it at this site and then leaves it.
  // False: it is to be told by meetings.
  virtual bool all_meet(const Who&, u32 /*generation*/) { return false; }
  virtual void mbarrier(const Who&, const Mbarrier&) {}
  virtual void transfer(const Who&, const Transfer&) {}
  virtual void copies(const Who&, const Copies&) {}
  virtual void matrix(const Who&, const Matrix&) {}
  virtual void collective(const Who&, const Collective&) {}
  virtual void hint(const Who&, const Hint&) {}
  virtual void image(const Who&, const Image&) {}
};

}  // namespace us::probe
