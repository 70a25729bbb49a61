// SPDX-License-Identifier: Apache-2.0
// ours only: what a real device does with a number that is no handle differs by the number
// Kernels that use numbers that are not handles of textures or surfaces: an illegal address, and no memory of the
// process is read.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "texture.h"
using namespace program;

enum class Way { Tex, TexFetch, TexLevel, Query, Surface, SurfaceStore };
__global__ void use(Way way, unsigned long long handle, float* out) {
  float f = 0;
  int i = 0;
  switch (way) {
    case Way::Tex: f = tex2D<float>(handle, 1, 1); break;
    case Way::TexFetch: f = tex1Dfetch<float>(handle, 1); break;
    case Way::TexLevel: f = tex2DLod<float>(handle, 1, 1, 0); break;
    case Way::Query: asm volatile("txq.width.b32 %0, [%1];" : "=r"(i) : "l"(handle)); break;
    case Way::Surface: i = surf1Dread<int>(handle, 0); break;
    case Way::SurfaceStore: surf1Dwrite(7, handle, 0); break;
  }
  *out = f + i;
}

int one(Way way, int which) {
  float* out;
  MUST(cudaMalloc(&out, 4));
  static unsigned mine[4096];  // what marks an object begins it (memory/texture.h)
  for (unsigned& m : mine) m = way == Way::Surface || way == Way::SurfaceStore ? 0x55535501 : 0x55545801;
  const cudaTextureObject_t t = texture_of(floats(64, 1), 8, 8, 0, {});
  const cudaTextureObject_t gone = texture_of(floats(64, 1), 8, 8, 0, {});
  MUST(cudaDestroyTextureObject(gone));
  MUST(cudaDeviceSynchronize());
  const unsigned long long handles[] = {1, 12345, reinterpret_cast<unsigned long long>(mine), ~0ull, 1ull << 47, t + 8, t + 64, gone, ~7ull, reinterpret_cast<unsigned long long>(out)};
  use<<<1, 40>>>(way, handles[which], out);
  return cudaDeviceSynchronize();
}

int main() {
  bool right = true;
  for (int way = 0; way < 6; ++way)
    for (int which = 0; which < 10; ++which) {
      const pid_t child = fork();  // nothing of CUDA has been called here
      if (child == 0) _exit(one(static_cast<Way>(way), which) == cudaErrorIllegalAddress ? 0 : 1);
      int status = 0;
      waitpid(child, &status, 0);
      if (status == 0) continue;
      std::printf("way %d, handle %d: status %x\n", way, which, status);
      right = false;
    }
  expect("no number is followed", right);
  return finish();
}
