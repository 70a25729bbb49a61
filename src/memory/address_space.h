// SPDX-License-Identifier: Apache-2.0
// The addresses that virtual devices may touch: one range of the process, apart from all its other memory.
//
//   | reach | global: heaps, pinned memory, mappings | reach | windows: shared and local memory of clusters | reach |
//
// Compiled code tests addresses against the global part. Whatever lies within `kReach` of an address inside is then
// device memory or unmapped, so one test of an array's address covers all accesses to the array whose index is bounded.
// Windows lie `kWindowReach` apart from each other and from anything else, so a 32-bit offset from one cannot hit
// another.
#pragma once
#include <mutex>

#include "memory/extents.h"

namespace us::memory {

class AddressSpace {
 public:
  static constexpr u64 kReach = u64{1} << 37;
  static constexpr u64 kWindowReach = u64{1} << 31;
  // Where the global part is unless something else is there: an address is inside if its bits above 2^44 are those.
  static constexpr u64 kUsualStart = u64{1} << 45, kUsualBytes = u64{1} << 44;

  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  bool reserved() const { return base_ != 0; }  // false: the host has no room (`ulimit -v`)
  u64 global_start() const { return global_; }
  u64 global_bytes() const { return global_bytes_; }
  bool usual() const { return global_ == kUsualStart && global_bytes_ == kUsualBytes; }
  // Nothing else is within kReach. If not, for want of addresses, every access of a kernel must be checked.
  bool apart() const { return apart_; }
  bool in_global(u64 address) const { return address - global_ < global_bytes_; }
  bool in_windows(u64 address) const { return address - windows_ < windows_bytes_; }

  // Addresses of the global part, without access, with a gap behind them; 0: none left.
  u64 take(u64 bytes, u64 align, u64 wished = 0);
  void give(u64 at, u64 bytes);  // what is mapped there goes
  // The same with zero pages behind it; `file`: its pages, shared.
  u64 map(u64 bytes);
  u64 map_file(u64 bytes, int file);
  // Zero pages in the part for windows.
  u64 map_window(u64 bytes);
  void give_window(u64 at, u64 bytes);

 private:
  bool reserve(u64 reach, u64 global, u64 windows);
  u64 base_ = 0, bytes_ = 0;
  u64 global_ = 0, global_bytes_ = 0, windows_ = 0, windows_bytes_ = 0, window_gap_ = kWindowReach;
  bool apart_ = true;
  std::mutex m_;  // guards the members below
  Extents free_, free_windows_;
};

}  // namespace us::memory
