// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/array.h"

#include <algorithm>

#include "driver/context.h"
#include "driver/device.h"

namespace us::driver {
namespace {

constexpr u64 kPitchAlign = 64;

u64 pitch_of(const ArrayDesc& d) {
  return (d.width * d.format.texel_bytes() + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
}

u64 half(u64 extent) { return extent > 1 ? extent / 2 : extent; }

// The next coarser level: layers and faces keep their number.
ArrayDesc next_level(ArrayDesc d) {
  d.width = half(d.width);
  d.height = half(d.height);
  if (d.shape() == memory::TextureShape::D3) d.depth = half(d.depth);
  return d;
}

}  // namespace

memory::TextureShape ArrayDesc::shape() const {
  using enum memory::TextureShape;
  if (flags & Cubemap) return flags & Layered ? CubeLayered : Cube;
  if (flags & Layered) return height ? D2Layered : D1Layered;
  if (depth) return D3;
  return height ? D2 : D1;
}

u64 Array::pitch() const { return pitch_of(desc_); }
u64 Array::bytes_of(const ArrayDesc& d) { return pitch_of(d) * d.rows() * d.slices(); }

memory::TextureLevel Array::level() const {
  return {.data = memory_,
          .width = static_cast<u32>(desc_.width),
          .height = static_cast<u32>(desc_.rows()),
          .depth = static_cast<u32>(desc_.slices()),
          .pitch = pitch(),
          .slice = slice()};
}

u64 MipmappedArray::bytes() const {
  u64 sum = 0;
  for (const auto& l : levels_) sum += l->bytes();
  return sum;
}

Error ArrayTable::allocate(Context& c, const ArrayDesc& d, MipmappedArray* of, std::unique_ptr<Array>& out) {
  US_TRY(c.sticky());
  const u64 at = c.device().heap().allocate(Array::bytes_of(d));
  if (!at) return Error::OutOfMemory;
  out = std::make_unique<Array>(c, d, at, of);
  return Error::Success;
}

void ArrayTable::release(const Array& a) { a.context().device().heap().free(a.memory()); }

Error ArrayTable::create(Context& c, const ArrayDesc& d, Array*& out) {
  std::unique_ptr<Array> made;
  US_TRY(allocate(c, d, nullptr, made));
  out = made.get();
  std::lock_guard l(m_);
  arrays_.emplace(out, std::move(made));
  return Error::Success;
}

Error ArrayTable::create(Context& c, const ArrayDesc& d, u32 levels, MipmappedArray*& out) {
  auto made = std::make_unique<MipmappedArray>(c, d);
  ArrayDesc now = d;
  for (u32 i = 0; i < levels; ++i, now = next_level(now)) {
    std::unique_ptr<Array> level;
    if (const Error e = allocate(c, now, made.get(), level); failed(e)) {
      for (const auto& done : made->levels_) release(*done);
      return e;
    }
    made->levels_.push_back(std::move(level));
  }
  out = made.get();
  std::lock_guard l(m_);
  for (const auto& level : made->levels_) levels_.emplace(level.get(), level.get());
  mipmapped_.emplace(out, std::move(made));
  return Error::Success;
}

Array* ArrayTable::find(const void* handle) const {
  std::lock_guard l(m_);
  if (const auto it = arrays_.find(handle); it != arrays_.end()) return it->second.get();
  const auto it = levels_.find(handle);
  return it == levels_.end() ? nullptr : it->second;
}

MipmappedArray* ArrayTable::find_mipmapped(const void* handle) const {
  std::lock_guard l(m_);
  const auto it = mipmapped_.find(handle);
  return it == mipmapped_.end() ? nullptr : it->second.get();
}

Error ArrayTable::destroy(const void* handle) {
  std::unique_ptr<Array> gone;
  {
    std::lock_guard l(m_);
    if (levels_.contains(handle)) return Error::InvalidValue;
    const auto it = arrays_.find(handle);
    if (it == arrays_.end()) return Error::InvalidHandle;
    gone = std::move(it->second);
    arrays_.erase(it);
  }
  const Error e = gone->context().settle();
  release(*gone);
  return e;
}

Error ArrayTable::destroy_mipmapped(const void* handle) {
  std::unique_ptr<MipmappedArray> gone;
  {
    std::lock_guard l(m_);
    const auto it = mipmapped_.find(handle);
    if (it == mipmapped_.end()) return Error::InvalidHandle;
    gone = std::move(it->second);
    mipmapped_.erase(it);
    for (const auto& level : gone->levels_) levels_.erase(level.get());
  }
  const Error e = gone->context().settle();
  for (const auto& level : gone->levels_) release(*level);
  return e;
}

void ArrayTable::forget(Context& c) {
  std::lock_guard l(m_);
  std::erase_if(arrays_, [&](const auto& a) {
    if (&a.second->context() != &c) return false;
    release(*a.second);
    return true;
  });
  std::erase_if(mipmapped_, [&](const auto& m) {
    if (&m.second->context() != &c) return false;
    for (const auto& level : m.second->levels_) {
      levels_.erase(level.get());
      release(*level);
    }
    return true;
  });
}

}  // namespace us::driver
