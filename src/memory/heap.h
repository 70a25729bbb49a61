// SPDX-License-Identifier: Apache-2.0
// Device memory of one virtual GPU: one range of the address space, pages appear on allocation and vanish on free.
//
//   |pool 2 MiB: small blocks|gap|allocation of whole pages|gap|  free  |allocation|gap| ...
//
// Allocations below 2 MB end where unmapped memory begins (if their size is a multiple of a page). Larger ones are
// accessible up to the end of their last 2 MB, as on the device, which has pages of that size. Addresses are not reused
// before the range is used up, so late accesses fault instead of hitting another allocation.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "memory/address_space.h"

namespace us::memory {

struct SharedPages {
  int descriptor = -1;       // stays the heap's
  u64 start = 0, bytes = 0;  // what it holds, from its first byte on
};

class Heap {
 public:
  // apart: small blocks do not touch each other, so that what goes behind the end of one is in no other.
  Heap(u64 capacity, AddressSpace&, bool apart = false);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  u64 allocate(u64 bytes, u64 align = 256);  // 0: no memory
  // Is a new allocation all zero, because its pages were never used? Such pages appear when they are touched; clearing
  // them would cost memory.
  bool fresh(u64 address) const;
  bool free(u64 address);  // false: not the start of an allocation
  // Moves the pages of an allocation (of a small one: of its pool) into a file that other processes can map. Nobody may
  // write to them meanwhile. false: no memory, or not an allocation.
  bool share(u64 address, SharedPages& out);
  void charge(u64 bytes);  // memory used by something that is not in the range
  void uncharge(u64 bytes);
  bool contains(u64 address) const { return address - base_ < reserved_; }
  u64 end() const { return base_ + reserved_; }
  AddressSpace& space() const { return space_; }
  u64 used() const;
  u64 capacity() const { return capacity_; }
  u64 copied_end(u64 address) const;  // how far copies may go: to the end of an allocation's last 4 KB; 0: none there

 private:
  struct Block {
    u64 bytes, span, cost;
    bool pooled;
  };  // span: address space, cost: what it counts against the capacity
  u64 allocate_pages(u64 bytes, u64 align);
  u64 allocate_small(u64 bytes, u64 align);
  bool release_pages(u64 at, const Block&);

  mutable std::mutex m_;  // guards the members below
  AddressSpace& space_;
  u64 base_ = 0, reserved_ = 0, capacity_, used_ = 0;
  Extents extents_;  // free address space
  Extents holes_;    // free space inside pools
  std::map<u64, Block> blocks_, pools_;
  std::map<u64, SharedPages> shared_;  // by start
  u64 mappings_ = 0;
  const bool apart_;
};

}  // namespace us::memory
