// SPDX-License-Identifier: Apache-2.0
// Copies in every direction, with right and wrong directions and sizes; what the memory then holds.
#include <vector>

#include "api.h"

int main() {
  constexpr size_t n = 1 << 20;
  unsigned char *d = nullptr, *d2 = nullptr, *pinned = nullptr, *managed = nullptr;
  MUST(cudaMalloc(&d, n));
  MUST(cudaMalloc(&d2, n));
  MUST(cudaMallocHost(&pinned, n));
  MUST(cudaMallocManaged(&managed, n));
  std::vector<unsigned char> host(n), back(n);
  for (size_t i = 0; i < n; ++i) host[i] = static_cast<unsigned char>(i * 7 + i / 256);
  unsigned char *h = host.data(), *b = back.data();

  SHOW(cudaMemcpy(d, h, n, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d2, d, n, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(pinned, d2, n, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(managed, pinned, n, cudaMemcpyDefault));
  SHOW(cudaMemcpy(b, managed, n, cudaMemcpyDefault));
  VALUE(back == host);

  SHOW(cudaMemcpy(b, h, n, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(b, h, n, cudaMemcpyDefault));
  SHOW(cudaMemcpy(pinned, h, n, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, pinned, n, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(pinned, d, n, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(d, managed, n, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(managed, h, n, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(b, h, n, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(b, h, n, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(d, h, n, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(b, d, n, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(d, d2, n, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, d2, n, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(d, d2, n, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, h, n, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, h, n, static_cast<cudaMemcpyKind>(5)));
  SHOW(cudaMemcpy(d, h, n, static_cast<cudaMemcpyKind>(-1)));
  SHOW(cudaMemcpy(nullptr, h, n, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, nullptr, n, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, h, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemset(d, 0, 0));
  SHOW(cudaMemset(nullptr, 0, 4));
  SHOW(cudaMemset(h, 0, 4));
  SHOW(cudaMemset(pinned, 0x55, 4));
  VALUE(pinned[3]);
  SHOW(cudaMemset(managed, 0x66, 4));
  SHOW(cudaDeviceSynchronize());
  VALUE(managed[3]);
  SHOW(cudaGetLastError());

  // Two dimensions: a window of 100 x 40 bytes at (16, 8).
  size_t pitch = 0;
  unsigned char* image = nullptr;
  SHOW(cudaMallocPitch(&image, &pitch, 300, 64));
  VALUE(pitch);
  SHOW(cudaMemset2D(image, pitch, 0x11, 300, 64));
  SHOW(cudaMemcpy2D(image + 8 * pitch + 16, pitch, h, 128, 100, 40, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(b, 512, image, pitch, 300, 64, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 300; ++x) {
      const bool inside = x >= 16 && x < 116 && y >= 8 && y < 48;
      wrong += b[y * 512 + x] != (inside ? host[(y - 8) * 128 + x - 16] : 0x11);
    }
  VALUE(wrong);
  SHOW(cudaMemcpy2D(b, 299, image, pitch, 300, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(b, 512, image, 299, 300, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(b, 512, image, pitch, 0, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(b, 512, image, pitch, 300, 0, cudaMemcpyDeviceToHost));

  // Three dimensions.
  cudaPitchedPtr box = {};
  SHOW(cudaMalloc3D(&box, make_cudaExtent(200, 10, 6)));
  VALUE(box.pitch);
  VALUE(box.xsize);
  VALUE(box.ysize);
  SHOW(cudaMemset3D(box, 0x22, make_cudaExtent(200, 10, 6)));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(h, 64, 64, 5);
  p.dstPtr = box;
  p.dstPos = make_cudaPos(3, 2, 1);
  p.extent = make_cudaExtent(60, 5, 4);
  p.kind = cudaMemcpyHostToDevice;
  SHOW(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q = {};
  q.srcPtr = box;
  q.dstPtr = make_cudaPitchedPtr(b, 200, 200, 10);
  q.extent = make_cudaExtent(200, 10, 6);
  q.kind = cudaMemcpyDeviceToHost;
  SHOW(cudaMemcpy3D(&q));
  wrong = 0;
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 10; ++y)
      for (int x = 0; x < 200; ++x) {
        const bool inside = x >= 3 && x < 63 && y >= 2 && y < 7 && z >= 1 && z < 5;
        wrong += b[(z * 10 + y) * 200 + x] != (inside ? host[((z - 1) * 5 + y - 2) * 64 + x - 3] : 0x22);
      }
  VALUE(wrong);
  SHOW(cudaGetLastError());
  return 0;
}
