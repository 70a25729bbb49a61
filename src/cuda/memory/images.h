// SPDX-License-Identifier: Apache-2.0
// What both APIs say about arrays and textures, in the driver API's terms.
#pragma once
#include <cuda.h>

#include "cuda/state.h"
#include "driver/memory/array.h"

namespace us::cuda {

// Formats. Block-compressed and planar ones are NotSupported, numbers that are no format InvalidValue.
driver::Error texel_format(CUarray_format, u32 channels, memory::TexelFormat& out);
CUarray_format array_format(const memory::TexelFormat&);

// Arrays: checks shape, flags and the device's limits.
driver::Error array_desc(const CUDA_ARRAY3D_DESCRIPTOR&, driver::ArrayDesc& out);
CUDA_ARRAY3D_DESCRIPTOR descriptor_of(const driver::ArrayDesc&);
driver::Error create_array(driver::Context&, const CUDA_ARRAY3D_DESCRIPTOR&, driver::Array*& out);
driver::Error create_mipmapped(driver::Context&, const CUDA_ARRAY3D_DESCRIPTOR&, u32 levels,
                               driver::MipmappedArray*& out);

// One end of a copy: linear memory, or a box of bytes in an array.
struct CopyEnd {
  u64 start = 0, pitch = 0, slice = 0;
  bool array = false;
};
struct Box {
  u64 x = 0, y = 0, z = 0;               // x in bytes
  u64 width = 0, height = 1, depth = 1;  // width in bytes
};
driver::Error end_in_array(const driver::Array&, const Box&, CopyEnd& out);  // InvalidValue: outside
driver::Copy copy_between(const CopyEnd& dst, const CopyEnd& src, const Box& extent);

// `bytes` from a place in an array on, row after row (the old copies of one dimension); the other side is linear or
// an array too. Each piece is a rectangle.
struct ArrayCursor {
  const driver::Array* array = nullptr;  // nullptr: linear
  u64 at = 0;                            // linear: address; array: byte offset with rows counted densely
};
driver::Error split_copy(ArrayCursor dst, ArrayCursor src, u64 bytes, std::vector<driver::Copy>& out);
driver::Error cursor_in(const driver::Array&, u64 x_bytes, u64 y, u64 bytes, ArrayCursor& out);

// Textures and surfaces. The runtime API has a read mode, and refuses formats that cannot be read so or be mixed; the
// driver API's texture then reads single texels.
enum class ReadMode : u8 { NotGiven, Element, Normalised };
driver::Error create_texture(driver::Context&, const CUDA_RESOURCE_DESC&, const CUDA_TEXTURE_DESC&,
                             const CUDA_RESOURCE_VIEW_DESC*, ReadMode, u64& out);
driver::Error create_surface(driver::Context&, const CUDA_RESOURCE_DESC&, u64& out);
driver::Error destroy_image(u64 handle, bool texture);  // InvalidHandle

struct ImageDesc {  // as they were given
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
};
driver::Error find_image(u64 handle, bool texture, ImageDesc& out);  // InvalidHandle

}  // namespace us::cuda
