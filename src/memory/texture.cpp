// SPDX-License-Identifier: Apache-2.0
#include "memory/texture.h"

namespace us::memory {

u64 TextureTable::add(const TextureObject& object) {
  std::lock_guard l(m_);
  TextureObject* slot = nullptr;
  if (free_.size() > kKeep) {
    slot = free_.front();
    free_.pop_front();
  } else {
    slot = slots_.emplace_back(std::make_unique<TextureObject>()).get();
  }
  known_.insert(slot);
  *slot = object;
  return reinterpret_cast<u64>(slot);
}

const TextureObject* TextureTable::find(u64 handle, u32 magic) {
  std::lock_guard l(m_);
  const auto* slot = reinterpret_cast<TextureObject*>(handle);
  return known_.contains(slot) && slot->magic == magic ? slot : nullptr;
}

bool TextureTable::remove(u64 handle, u32 magic) {
  std::lock_guard l(m_);
  auto* slot = reinterpret_cast<TextureObject*>(handle);
  if (!known_.contains(slot) || slot->magic != magic) return false;
  known_.erase(slot);
  return true;
}

void TextureTable::bury(u64 handle) {
  std::lock_guard l(m_);
  auto* slot = reinterpret_cast<TextureObject*>(handle);
  slot->magic = 0;
  free_.push_back(slot);
}

}  // namespace us::memory
