// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/host_memory.h"

#include <fmt/format.h>

namespace us::sanitizer {
namespace {

using probe::Memory;

const char* kind_of(Memory::Owner o) {
  switch (o) {
    case Memory::Owner::Pool:
      return "memory of a pool";
    case Memory::Owner::Host:
      return "pinned memory of the host";
    case Memory::Owner::Managed:
      return "managed memory";
    case Memory::Owner::Array:
      return "a CUDA array";
    default:
      return "device memory";
  }
}

}  // namespace

void HostMemory::leaked(const Block& b, const char* when) {
  Finding f;
  f.check = Check::Leak;
  f.object = fmt::format("{} bytes of {}", b.what.bytes, kind_of(b.what.owner));
  f.parties.push_back({.action = "allocated", .site = stack_.in_words(b.stack), .who = "", .others = 0});
  f.why = {fmt::format("It was still allocated when {} ended.", when)};
  sink_.found(f);
}

void HostMemory::memory(const Memory& m) {
  if (m.owner == Memory::Owner::Variable) return;
  if (m.kind == Memory::Kind::Allocated) {
    HostStack::Addresses stack = stack_.take();
    std::lock_guard l(m_);
    blocks_[m.begin] = {m, std::move(stack)};
    return;
  }
  if (m.kind == Memory::Kind::Mapped) return;
  Block gone;
  {
    std::lock_guard l(m_);
    const auto it = blocks_.find(m.begin);
    if (it == blocks_.end()) return;
    gone = std::move(it->second);
    blocks_.erase(it);
  }
  if (m.kind == Memory::Kind::Unmapped) leaked(gone, "its context");
}

void HostMemory::process_ends() {
  std::map<u64, Block> left;
  {
    std::lock_guard l(m_);
    left.swap(blocks_);
  }
  for (const auto& [address, b] : left) leaked(b, "the process");
}

}  // namespace us::sanitizer
