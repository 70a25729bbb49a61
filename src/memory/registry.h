// SPDX-License-Identifier: Apache-2.0
// Every allocation of the process, by address. What an address refers to decides how it is copied, freed and described.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "base/types.h"

namespace us::probe {
class Observer;
}

namespace us::memory {

enum class Kind : u8 {
  Device,          // cudaMalloc
  Async,           // cudaMallocAsync
  Managed,         // cudaMallocManaged, __managed__
  Host,            // cudaMallocHost, cudaHostAlloc
  HostRegistered,  // cudaHostRegister
  Variable,        // a module's global or constant variable
  Mapped,          // cuMemMap; flags: what may be done with it, 1 read, 2 write
  Imported,        // cudaIpcOpenMemHandle, cudaMemPoolImportPointer
  ImportedHost,    // cudaMemPoolImportPointer, of a pool in the host's memory
};

struct Allocation {
  u64 address = 0, bytes = 0;
  Kind kind = Kind::Device;
  u32 flags = 0;  // as given to cudaHostAlloc, cudaMallocManaged, cudaHostRegister
  u32 device = 0;
  void* owner = nullptr;  // the context
  void* pool = nullptr;   // Async: where it goes back to
  u64 id = 0;             // CU_POINTER_ATTRIBUTE_BUFFER_ID
  bool sync = false;      // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
  u64 write_delta = 0;    // Variable: add to write (constant memory is read-only at its address)
  u64 node = 0;           // of the work graph, that allocates it; 0: it is there at once
  u64 physical = 0;       // Mapped: the handle of the memory
  bool imported() const { return kind == Kind::Imported || kind == Kind::ImportedHost; }
  bool host() const { return kind == Kind::Host || kind == Kind::HostRegistered || kind == Kind::ImportedHost; }
};

class Registry {
 public:
  void listen(probe::Observer* o) { observer_ = o; }  // before anything is added
  void add(Allocation);
  std::optional<Allocation> remove(u64 address,
                                   u64 node = 0);     // exactly at its start; freed by that node of the work graph
  std::optional<Allocation> find(u64 address) const;  // containing
  bool set_sync(u64 address, bool on);                // of the allocation that contains it; false: there is none
  bool overlaps(u64 address, u64 bytes) const;
  bool any_registered() const { return registered_.load(std::memory_order_relaxed) != 0; }  // HostRegistered
  bool registered_page(u64 address) const;  // the device may touch all of a page that a registered range has a part of
  template <class F>
  void remove_if(F&& pred) {
    std::unique_lock l(m_);
    std::erase_if(by_address_, [&](auto& e) {
      if (!pred(e.second)) return false;
      if (e.second.kind == Kind::HostRegistered) --registered_;
      if (observer_) tell_ended(e.second);
      return true;
    });
  }

 private:
  void tell_ended(const Allocation&) const;  // with its context, nobody freed it
  probe::Observer* observer_ = nullptr;
  mutable std::shared_mutex m_;  // guards by_address_ and next_id_
  std::map<u64, Allocation> by_address_;
  u64 next_id_ = 1;
  std::atomic<u64> registered_{0};
};

}  // namespace us::memory
