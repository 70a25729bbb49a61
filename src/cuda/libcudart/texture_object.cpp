// SPDX-License-Identifier: Apache-2.0
// Texture Object Management: what needs no texture.
#include <cuda_runtime_api.h>

#include "cuda/api.h"

US_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
