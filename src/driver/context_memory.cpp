// SPDX-License-Identifier: Apache-2.0
// Allocation and release of device, managed and host memory.
#include <cstdio>
#include <fstream>
#include <string>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/graph/graph.h"
#include "driver/memory/advice.h"
#include "driver/memory/ipc.h"
#include "driver/memory/mem_pool.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// Is all of it mapped, to be read and, if `write`, written?
bool is_mapped(u64 address, u64 end, bool write) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; address < end && std::getline(maps, line);) {
    u64 from = 0, to = 0;
    char r = 0, w = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %c%c", &from, &to, &r, &w) != 4) return false;
    if (to <= address) continue;
    if (from > address || r != 'r' || (write && w != 'w')) return false;
    address = to;
  }
  return address >= end;
}

// As an H200 does: a range that wraps is wrong, one beyond the addresses of programs is not supported.
Error can_register(const memory::Registry& registry, u64 address, u64 bytes, u32 flags) {
  constexpr u64 kMostAddress = u64{1} << 47;
  constexpr u32 kReadOnly = 8, kKnown = 15;
  if (address == 0 || bytes == 0 || (flags & ~kKnown) || address + bytes < address) return Error::InvalidValue;
  if (address + bytes > kMostAddress) return Error::NotSupported;
  if (registry.overlaps(address, bytes)) return Error::HostMemoryAlreadyRegistered;
  return is_mapped(address, address + bytes, !(flags & kReadOnly)) ? Error::Success : Error::InvalidValue;
}

bool from_device(memory::Kind k) {
  return k == memory::Kind::Device || k == memory::Kind::Async || k == memory::Kind::Managed;
}

Error capture_allocation(Context& c, Stream& s, u64 bytes, u32 device, u64& out, bool& captured) {
  if (bytes == 0) return Error::Success;
  Graphs& graphs = c.runtime().graphs();
  AllocParams p;
  US_TRY(graphs.memory.allocate(c, device, bytes, p.block));
  const u64 at = p.block->address();
  US_TRY(graphs.captures.add(s, std::move(p), captured));
  if (captured) out = at;
  return Error::Success;
}

bool from_imported_pool(const memory::Allocation& a) { return a.imported() && a.pool; }

}  // namespace

Error Context::allocate(u64 bytes, memory::Kind kind, u32 flags, u64& out) {
  US_TRY(sticky());
  US_TRY(runtime().captures().unsafe());
  out = 0;
  if (bytes == 0) return Error::Success;
  out = kind == memory::Kind::Host ? runtime().space().map(bytes) : device_.heap().allocate(bytes);
  if (!out) return Error::OutOfMemory;
  runtime().registry().add(
      {.address = out, .bytes = bytes, .kind = kind, .flags = flags, .device = device_.ordinal(), .owner = this});
  return Error::Success;
}

void Context::release_memory(const memory::Allocation& a) {
  if (a.kind == memory::Kind::Managed) runtime().advice().forget(a.address, a.bytes);
  if (a.pool)
    static_cast<MemPool*>(a.pool)->put(a.address, a.bytes);
  else if (a.kind == memory::Kind::Host)
    runtime().space().give(a.address, a.bytes);
  else if (from_device(a.kind))
    runtime().device(a.device).heap().free(a.address);
}

// The memory is there at once; stream order only matters for when it may be used again.
Error Context::allocate_async(u64 bytes, MemPool& pool, Stream& s, u64& out) {
  US_TRY(sticky());
  out = 0;
  bool captured = false;
  US_TRY(runtime().captures().admit(s, captured));
  if (captured && pool.home().kind != MemPool::Home::Kind::Device) return Error::NotSupported;
  if (captured) US_TRY(capture_allocation(*this, s, bytes, pool.device(), out, captured));
  if (captured) return Error::Success;
  US_TRY(runtime().captures().unsafe());
  if (pool.sharing() == MemPool::Sharing::Imported) return Error::InvalidValue;
  if (bytes == 0) return Error::Success;
  out = pool.take(bytes);
  if (!out) return Error::OutOfMemory;
  const NodeRef begins = runtime().telling() ? order_.append(s, executor_->make(Node::Kind::Empty)) : NodeRef();
  runtime().registry().add({.address = out,
                            .bytes = bytes,
                            .kind = pool.memory_kind(),
                            .flags = 0,
                            .device = pool.device(),
                            .owner = this,
                            .pool = &pool,
                            .node = begins ? begins->id : 0});
  return Error::Success;
}

// Waits for the work that may still use it, as cudaFree does.
Error Context::free(u64 address) {
  US_TRY(sticky());
  US_TRY(runtime().captures().unsafe());
  if (address == 0) return Error::Success;
  if (runtime().graphs().memory.knows(address)) {
    US_TRY(settle());
    return runtime().graphs().memory.end(address);
  }
  const auto a = runtime().registry().find(address);
  if (a && a->address == address && from_imported_pool(*a)) return runtime().ipc().close_memory(address);
  if (!a || a->address != address || !(from_device(a->kind) || a->pool) || !a->owner) return Error::InvalidValue;
  US_TRY(static_cast<Context*>(a->owner)->settle());
  if (const auto mine = runtime().registry().remove(address)) release_memory(*mine);
  return Error::Success;
}

Error Context::free_async(u64 address, Stream& s) {
  US_TRY(sticky());
  if (address == 0) return Error::Success;
  GraphMemory& graph_memory = runtime().graphs().memory;
  bool captured = false;
  US_TRY(runtime().captures().admit(s, captured));
  if (captured && !graph_memory.knows(address)) return Error::InvalidValue;
  if (captured) US_TRY(runtime().captures().add(s, FreeParams{address}, captured));
  if (captured) return Error::Success;
  US_TRY(runtime().captures().unsafe());
  if (graph_memory.knows(address)) return graph_memory.end(address);
  const auto a = runtime().registry().find(address);
  const bool known = a && (a->pool || a->kind == memory::Kind::Device);
  if (a && a->kind == memory::Kind::Managed && !a->pool) return Error::NotSupported;
  if (!known || a->address != address) return Error::InvalidValue;
  const NodeRef n = executor_->make(Node::Kind::Work);
  n->small = n->always = true;
  if (from_imported_pool(*a)) {
    n->work = [this, address] { runtime().ipc().drop(address); };
  } else {
    runtime().registry().remove(address, n->id);
    n->work = [this, a = *a] { release_memory(a); };
  }
  order_.append(s, n);
  return Error::Success;
}

Error Context::free_host(u64 address) {
  US_TRY(sticky());
  US_TRY(runtime().captures().unsafe());
  if (address == 0) return Error::Success;
  const auto a = runtime().registry().find(address);
  if (!a || a->address != address || a->kind != memory::Kind::Host || a->pool) return Error::InvalidValue;
  US_TRY(static_cast<Context*>(a->owner)->settle());
  if (const auto mine = runtime().registry().remove(address)) release_memory(*mine);
  return Error::Success;
}

Error Context::register_host(u64 address, u64 bytes, u32 flags) {
  US_TRY(sticky());
  US_TRY(runtime().captures().unsafe());
  US_TRY(can_register(runtime().registry(), address, bytes, flags));
  runtime().registry().add({.address = address,
                            .bytes = bytes,
                            .kind = memory::Kind::HostRegistered,
                            .flags = flags,
                            .device = device_.ordinal(),
                            .owner = this});
  return Error::Success;
}

Error Context::unregister_host(u64 address) {
  US_TRY(sticky());
  US_TRY(runtime().captures().unsafe());
  const auto a = runtime().registry().find(address);
  if (!a || a->kind != memory::Kind::HostRegistered) return Error::HostMemoryNotRegistered;
  if (a->address != address) return Error::InvalidValue;
  US_TRY(static_cast<Context*>(a->owner)->settle());
  runtime().registry().remove(address);
  return Error::Success;
}

}  // namespace us::driver
