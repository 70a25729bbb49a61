// SPDX-License-Identifier: Apache-2.0
// A device without OpenGL: nothing can be registered.
#include "api.h"

extern "C" cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource** out, unsigned buffer, unsigned flags);
extern "C" cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource** out, unsigned image, unsigned target, unsigned flags);
extern "C" cudaError_t cudaGLGetDevices(unsigned* count, int* devices, unsigned most, int list);

int main() {
  cudaGraphicsResource* r = nullptr;
  unsigned count = 7;
  int devices[4] = {};
  MUST(cudaFree(nullptr));
  SHOW(cudaGraphicsGLRegisterBuffer(&r, 1, 0));
  SHOW(cudaGraphicsGLRegisterImage(&r, 1, 0x0DE1, 0));
  SHOW(cudaGLGetDevices(&count, devices, 4, 1));
  SHOW(cudaGraphicsMapResources(0, &r));
  SHOW(cudaGraphicsUnmapResources(0, &r));
  SHOW(cudaGetLastError());
  return 0;
}
