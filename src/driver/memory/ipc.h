// SPDX-License-Identifier: Apache-2.0
// Memory and events that another process on this host uses too.
//
//   exporter: the pages of the allocation move into a file in memory, at the same address
//   handle:   who and which descriptor; the other process opens /proc/<who>/fd/<descriptor> and maps it
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "driver/error.h"
#include "memory/registry.h"

namespace us::driver {

class Context;
class MemPool;
class Runtime;
class SharedEvent;

struct IpcHandle {
  std::array<u8, 64> bytes{};
};

class Ipc {
 public:
  explicit Ipc(Runtime& r) : runtime_(r) {}
  Error export_memory(u64 address, IpcHandle& out);  // InvalidValue: not from cudaMalloc
  Error open_memory(Context&, const IpcHandle&, u64& out);
  Error close_memory(u64 address);  // the last close of what was opened unmaps it
  Error drop(u64 address);          // the same, without waiting for work that may use it

  // Pools: the descriptor says only that there is one; each allocation is shared like other memory when it is asked
  // for.
  static Error export_pool(const MemPool&, int& descriptor);  // InvalidValue: not made to be exported
  Error import_pool(int descriptor, MemPool*& out);
  Error export_pool_memory(u64 address, IpcHandle& out);
  Error import_pool_memory(Context&, MemPool& imported, const IpcHandle&, u64& out);
  static Error export_event(const SharedEvent&, IpcHandle& out);
  static Error open_event(const IpcHandle&, std::shared_ptr<SharedEvent>& out);

 private:
  struct Opened {
    u64 map_at = 0, map_bytes = 0, references = 0;
    IpcHandle handle;
  };
  Error share(const memory::Allocation&, u64 magic, IpcHandle& out);
  Error open(Context&, const IpcHandle&, MemPool*, u64& out);

  Runtime& runtime_;
  std::mutex m_;                  // guards opened_
  std::map<u64, Opened> opened_;  // by address of the allocation
};

}  // namespace us::driver
