// SPDX-License-Identifier: Apache-2.0
// cudaChannelFormatDesc: bits of each channel and a kind, where the driver API has a format and a count.
#pragma once
#include "cuda/libcudart/runtime_api.h"
#include "cuda/memory/images.h"
#include "driver/memory/array.h"

namespace us::cuda {

driver::Error channels_to_format(const cudaChannelFormatDesc&, CUarray_format& format, u32& channels);
cudaChannelFormatDesc channels_of(const memory::TexelFormat&);

inline driver::Array* find_array(cudaArray_const_t a) { return runtime().arrays().find(a); }

}  // namespace us::cuda
