// SPDX-License-Identifier: Apache-2.0
// The heap behind malloc and free in device code. Its book-keeping lies outside the heap: guest code cannot break it.
#pragma once
#include <set>
#include <unordered_map>

#include "base/types.h"
#include "device/support/spin_lock.h"
#include "memory/address_space.h"

namespace us::device {

class GuestHeap {
 public:
  GuestHeap(memory::AddressSpace* space, u64 bytes) : space_(space), bytes_(bytes) {}
  ~GuestHeap();
  GuestHeap(const GuestHeap&) = delete;
  GuestHeap& operator=(const GuestHeap&) = delete;
  bool resize(u64 bytes);                 // false: in use already
  u64 allocate(u64 bytes);                // 16-byte aligned; 0 when the heap is full
  bool contains(u64 address, u64 bytes);  // any part of the heap
  bool free(u64 address);                 // false: not an allocation; freeing 0 does nothing

 private:
  void insert_free(u64 at, u64 bytes);
  void erase_free(u64 at, u64 bytes);

  memory::AddressSpace* space_;  // null: anywhere
  SpinLock m_;                   // guards the members below
  u64 bytes_;
  u8* base_ = nullptr;
  std::set<std::pair<u64, u64>> by_size_;       // free: (bytes, offset)
  std::unordered_map<u64, u64> starts_, ends_;  // free: offset -> bytes, end offset -> bytes
  std::unordered_map<u64, u64> taken_;          // offset -> bytes
};

}  // namespace us::device
