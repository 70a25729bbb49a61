// SPDX-License-Identifier: Apache-2.0
// Address ranges and memory apart from each other: cuMemAddressReserve, cuMemCreate, cuMemMap.
//
//   reservation   |  no access  | mapping of A | mapping of B |  no access  |
//   memory A, B   a file in memory each; others may map it too, in this process or in another one
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "driver/error.h"
#include "memory/registry.h"

namespace us::driver {

class Runtime;

struct PhysicalDesc {
  // CUmemLocationType, CUmemAllocationHandleType
  enum Location : i32 { OnDevice = 1, OnHost = 2, OnHostNuma = 3, OnHostNumaCurrent = 4 };
  static constexpr u32 kPosixFd = 1, kFabric = 8;
  i32 location = OnDevice;
  i32 id = 0;
  u32 handle_types = 0;
  u32 usage = 0;
  u8 compression = 0, rdma = 0;
};

class VirtualMemory {
 public:
  static constexpr u64 kGranularity = 2u << 20;

  explicit VirtualMemory(Runtime& r) : runtime_(r) {}
  ~VirtualMemory();

  Error reserve(u64 bytes, u64 align, u64 hint, u64& out);
  Error free_range(u64 at, u64 bytes);
  bool reserved(u64 address) const;  // inside some reservation

  Error create(u64 bytes, const PhysicalDesc&, u64& handle);  // OutOfMemory
  Error release(u64 handle);                                  // the memory goes when its last mapping does
  Error retain_at(u64 address, u64& handle);                  // of what is mapped there
  Error describe(u64 handle, PhysicalDesc& out) const;

  Error map(u64 at, u64 bytes, u64 offset, u64 handle);
  Error unmap(u64 at, u64 bytes);                                        // whole mappings only
  Error set_access(u64 at, u64 bytes, i32 location, i32 id, u32 flags);  // 0 none, 1 read, 3 read and write
  u32 rights(u64 at, i32 device, u64& end) const;  // of a device at an address; `end` of the mapping there
  bool any_mapping() const { return any_mapping_.load(std::memory_order_relaxed); }
  bool compressible(u64 address) const;  // created as such
  Error get_access(u64 at, i32 location, i32 id, u32& flags) const;

  Error export_fd(u64 handle, int& fd) const;
  Error import_fd(int fd, u64& handle);

 private:
  struct Physical {
    int fd = -1;
    u64 bytes = 0, references = 0, mappings = 0;
    PhysicalDesc desc;
  };
  struct Mapping {
    u64 bytes = 0, handle = 0;
    std::map<std::pair<i32, i32>, u32> access;  // by location
  };
  Error keep(Physical, u64& handle);
  void drop_if_unused(u64 handle);
  Error check_mapped(u64 at, u64 bytes) const;  // [at, at + bytes) is mapped, and mappings start and end there
  void publish(u64 at, const Mapping&);

  Runtime& runtime_;
  std::atomic<bool> any_mapping_{false};  // ever made
  mutable std::mutex m_;                  // guards the members below
  std::map<u64, u64> ranges_;             // reservations: start → bytes
  std::map<u64, Mapping> mappings_;
  std::map<u64, Physical> memory_;  // by handle
  u64 next_handle_ = 0x100;
};

}  // namespace us::driver
