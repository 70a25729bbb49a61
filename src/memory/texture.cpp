// SPDX-License-Identifier: Apache-2.0
#include "memory/texture.h"

#include <sys/mman.h>

#include <new>

#include "memory/warp_sample.h"

namespace us::memory {

TextureTable::TextureTable() {
  for (u64 slots = kSlots; slots >= kFewestSlots && !base_; slots /= 2) {
    void* at = mmap(nullptr, slots * kSlot, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, slots * kSlot, MADV_DONTDUMP);
    base_ = reinterpret_cast<u64>(at);
    bytes_ = slots * kSlot;
  }
}

TextureTable::~TextureTable() {
  if (base_) munmap(reinterpret_cast<void*>(base_), bytes_);
}

u64 TextureTable::add(const TextureObject& object) {
  std::lock_guard l(m_);
  const bool more = (used_ + 1) * kSlot <= bytes_;
  u64 handle = 0;
  if (free_.size() > kKeep || (!more && !free_.empty())) {
    handle = free_.front();
    free_.pop_front();
  } else if (more) {
    handle = base_ + used_++ * kSlot;
  } else {
    return 0;
  }
  known_.insert(handle);
  auto* const t = new (reinterpret_cast<void*>(handle)) TextureObject(object);
  if (t->magic == TextureObject::kTexture) t->sample_warp = warp_sampler(*t), t->fetch_warp = warp_fetcher(*t);
  return handle;
}

const TextureObject* TextureTable::find(u64 handle, u32 magic) {
  std::lock_guard l(m_);
  return known_.contains(handle) ? object(handle, magic) : nullptr;
}

bool TextureTable::remove(u64 handle, u32 magic) {
  std::lock_guard l(m_);
  if (!known_.contains(handle) || !object(handle, magic)) return false;
  known_.erase(handle);
  return true;
}

void TextureTable::bury(u64 handle) {
  std::lock_guard l(m_);
  reinterpret_cast<TextureObject*>(handle)->magic = 0;
  free_.push_back(handle);
}

}  // namespace us::memory
