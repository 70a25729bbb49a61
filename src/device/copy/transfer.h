// SPDX-License-Identifier: Apache-2.0
// The copy engine: every asynchronous copy is a Transfer, and completes in one way: a group of the thread that issued
// it, or transaction bytes at an mbarrier. When it is delivered is a policy, because a copy runs as if by another
// thread:
//
//   eager   at once
//   late    at the last moment: when its thread waits for its group, when no warp of the cluster can go on without it,
//           or at the end of the CTA. Source and destination are touched then.
//   random  any time in between, in any order, as a seed says
//
// A program whose result depends on the policy has forgotten to wait.
#pragma once
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "device/copy/reduce.h"
#include "memory/tensor_box.h"

namespace us::device {

struct Slot;
struct Warp;

// The thread that issued a copy.
struct Issuer {
  Warp* warp = nullptr;
  u32 lane = 0;
};

struct Transfer {
  Transfer() = default;
  explicit Transfer(Issuer by) : issuer(by) {}
  Issuer issuer;
  // For a listener: the instruction, its number in the launch, the tensor map's address, whether several blocks get it.
  u32 site = ~0u;
  u64 id = 0, map = 0;
  bool multicast = false;
  u8* dst = nullptr;
  const u8* src = nullptr;
  u32 bytes = 0;      // written at dst
  u32 src_bytes = 0;  // read at src; the rest is filled with zeros
  u32 beyond = 0;     // bytes more that the program asked to read
  Reduction reduction;
  u16 byte_mask = 0xffff;  // of every 16 bytes, those that are written
  // If set, the global side is a box of this tensor, and dst or src is the shared side.
  std::shared_ptr<const memory::TensorBox> tensor;
  i64 mbarrier = -1;     // offset in the window: gets complete_tx of `bytes`
  bool arrives = false;  // no copy: an arrival at the mbarrier once the thread's earlier cp.async have been delivered
  // Without an mbarrier: the number of its group among those of the issuer, of cp.async.bulk or of cp.async.
  u32 group = 0;
  bool bulk = true;
  std::vector<u8> snapshot;  // what was at src when its thread was told that it had been read
};

// Transfers under way, in order of issue; each has a ticket, a number that grows by one. A transfer that is taken out
// of order leaves a gap until all older ones are gone.
class TransferQueue {
 public:
  bool empty() const { return queue_.empty(); }
  void clear() {
    first_ += queue_.size();
    queue_.clear();
  }
  u64 push(Transfer&& t) {
    queue_.emplace_back(std::move(t));
    return first_ + queue_.size() - 1;
  }
  Transfer* find(u64 ticket) {  // null: it has been taken
    if (ticket < first_ || !queue_[ticket - first_]) return nullptr;
    return &*queue_[ticket - first_];
  }
  u64 oldest() const { return first_; }
  u64 any(u64 number) const {  // not empty
    u64 k = number % queue_.size();
    while (!queue_[k]) k = k ? k - 1 : queue_.size() - 1;
    return first_ + k;
  }
  Transfer take(u64 ticket) {
    Transfer t = std::move(*queue_[ticket - first_]);
    queue_[ticket - first_].reset();
    for (; !queue_.empty() && !queue_.front(); ++first_) queue_.pop_front();
    return t;
  }

 private:
  std::deque<std::optional<Transfer>> queue_;  // the first one is there
  u64 first_ = 0;                              // its ticket
};

// Small copies of one thread, delivered at issue.
inline void deliver_small(u8* dst, const u8* src, u32 bytes, u32 src_bytes) {
  u8 data[16] = {};
  if (src_bytes == 16)
    std::memcpy(data, src, 16);
  else if (src_bytes == 8)
    std::memcpy(data, src, 8);
  else if (src_bytes == 4)
    std::memcpy(data, src, 4);
  else
    std::memcpy(data, src, src_bytes);
  if (bytes == 16)
    std::memcpy(dst, data, 16);
  else if (bytes == 8)
    std::memcpy(dst, data, 8);
  else
    std::memcpy(dst, data, bytes);
}

void issue(Slot&, Transfer&&);
struct Groups {
  bool bulk = true;        // cp.async.bulk, or cp.async
  bool read_only = false;  // the sources need only have been read
};
// Delivers what these lanes of the warp issued in groups before before[lane].
void finish_groups(Slot&, Warp&, u32 lanes, const u32 (&before)[kWarpSize], Groups);
u64 next_random(Slot&);   // of the order of deliveries
bool deliver_one(Slot&);  // false: none is under way
void deliver_all(Slot&);

}  // namespace us::device
