// SPDX-License-Identifier: Apache-2.0
// CUDA arrays: images in device memory, row by row (the layout is ours to choose: programs reach them by copies,
// textures and surfaces only), and mipmapped arrays, which are one array per level.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "driver/error.h"
#include "driver/memory/copy.h"
#include "memory/texture.h"

namespace us::driver {

class Context;
class MipmappedArray;

struct ArrayDesc {
  // CUDA_ARRAY3D_*, cudaArray*: the numbers are the same.
  enum Flags : u32 { Layered = 1, Surface = 2, Cubemap = 4, Gather = 8, Depth = 16, ColorAttachment = 32 };
  memory::TexelFormat format;
  u64 width = 0, height = 0, depth = 0;  // 0: the dimension is not there; depth counts layers and faces too
  u32 flags = 0;
  u64 rows() const { return height ? height : 1; }
  u64 slices() const { return depth ? depth : 1; }
  memory::TextureShape shape() const;
};

class Array {
 public:
  Array(Context& c, const ArrayDesc& d, u64 memory, MipmappedArray* of)
      : context_(c), desc_(d), memory_(memory), of_(of) {}
  Context& context() const { return context_; }
  const ArrayDesc& desc() const { return desc_; }
  MipmappedArray* mipmap() const { return of_; }
  u64 memory() const { return memory_; }
  u64 row_bytes() const { return desc_.width * desc_.format.texel_bytes(); }
  u64 pitch() const;
  u64 slice() const { return pitch() * desc_.rows(); }
  u64 bytes() const { return slice() * desc_.slices(); }
  memory::TextureLevel level() const;
  static u64 bytes_of(const ArrayDesc&);

 private:
  Context& context_;
  ArrayDesc desc_;
  u64 memory_;
  MipmappedArray* of_;  // whose level it is
};

class MipmappedArray {
 public:
  MipmappedArray(Context& c, const ArrayDesc& d) : context_(c), desc_(d) {}
  Context& context() const { return context_; }
  const ArrayDesc& desc() const { return desc_; }
  u32 levels() const { return static_cast<u32>(levels_.size()); }
  Array& level(u32 i) const { return *levels_[i]; }
  u64 bytes() const;

 private:
  friend class ArrayTable;
  Context& context_;
  ArrayDesc desc_;
  std::vector<std::unique_ptr<Array>> levels_;
};

// Owns the arrays of all contexts; handles are looked up, never followed.
class ArrayTable {
 public:
  Error create(Context&, const ArrayDesc&, Array*& out);  // OutOfMemory
  Error create(Context&, const ArrayDesc&, u32 levels, MipmappedArray*& out);
  Array* find(const void* handle) const;  // levels of mipmapped arrays too
  MipmappedArray* find_mipmapped(const void* handle) const;
  Error destroy(const void* handle);            // InvalidHandle; a level cannot be destroyed: InvalidValue
  Error destroy_mipmapped(const void* handle);  // InvalidHandle
  void forget(Context&);                        // it is going away

 private:
  Error allocate(Context&, const ArrayDesc&, MipmappedArray*, std::unique_ptr<Array>& out);
  void release(const Array&);
  mutable std::mutex m_;  // guards the members below
  std::unordered_map<const void*, std::unique_ptr<Array>> arrays_;
  std::unordered_map<const void*, std::unique_ptr<MipmappedArray>> mipmapped_;
  std::unordered_map<const void*, Array*> levels_;
};

}  // namespace us::driver
