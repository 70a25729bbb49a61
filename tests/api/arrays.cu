// SPDX-License-Identifier: Apache-2.0
// Arrays and mipmapped arrays: their attributes, copies into, out of and between them, wrong arguments.
#include <vector>

#include "api.h"

static void describe(cudaArray_t a) {
  cudaChannelFormatDesc d = {};
  cudaExtent e = {};
  unsigned flags = 77;
  if (SHOW(cudaArrayGetInfo(&d, &e, &flags, a)) != cudaSuccess) return;
  std::printf("  bits %d %d %d %d kind %d extent %zu %zu %zu flags %u\n", d.x, d.y, d.z, d.w, d.f, e.width, e.height, e.depth, flags);
}

static std::vector<int> ramp(int n, int first = 0) {
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i) v[i] = first + i;
  return v;
}
static void print(const char* what, const std::vector<int>& v) {
  std::printf("%s:", what);
  for (int x : v) std::printf(" %d", x);
  std::printf("\n");
}

static void shapes() {
  const auto i1 = cudaCreateChannelDesc<int>();
  const auto f4 = cudaCreateChannelDesc<float4>();
  const auto c2 = cudaCreateChannelDesc<uchar2>();
  cudaArray_t a = nullptr;
  SHOW(cudaMallocArray(&a, &i1, 10));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMallocArray(&a, &f4, 16, 9, cudaArraySurfaceLoadStore));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMallocArray(&a, &c2, 8, 8, cudaArrayTextureGather));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 5, 6)));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 0, 6), cudaArrayLayered));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 5, 6), cudaArrayLayered));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
  describe(a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 4, 12), cudaArrayCubemap | cudaArrayLayered));
  describe(a);
  cudaChannelFormatDesc d = {};
  SHOW(cudaGetChannelDesc(&d, a));
  VALUE(d.x);
  SHOW(cudaFreeArray(a));
}

static void wrong() {
  const auto i1 = cudaCreateChannelDesc<int>();
  cudaArray_t a = nullptr;
  SHOW(cudaMallocArray(&a, &i1, 0, 4));
  SHOW(cudaMallocArray(nullptr, &i1, 4, 4));
  SHOW(cudaMallocArray(&a, nullptr, 4, 4));
  SHOW(cudaMallocArray(&a, &i1, 1 << 20, 4));
  SHOW(cudaMallocArray(&a, &i1, 4, 1 << 20));
  SHOW(cudaMallocArray(&a, &i1, 4, 4, cudaArrayLayered));
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc mixed = {32, 16, 0, 0, cudaChannelFormatKindUnsigned};
  const cudaChannelFormatDesc odd = {12, 0, 0, 0, cudaChannelFormatKindUnsigned};
  const cudaChannelFormatDesc small_float = {8, 0, 0, 0, cudaChannelFormatKindFloat};
  SHOW(cudaMallocArray(&a, &three, 4, 4));
  SHOW(cudaMallocArray(&a, &mixed, 4, 4));
  SHOW(cudaMallocArray(&a, &odd, 4, 4));
  SHOW(cudaMallocArray(&a, &small_float, 4, 4));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 0, 4)));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 5, 6), cudaArrayCubemap));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 4, 5), cudaArrayCubemap));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 4, 8), cudaArrayCubemap | cudaArrayLayered));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 4, 0), cudaArrayLayered));
  SHOW(cudaMalloc3DArray(&a, &i1, make_cudaExtent(4, 4, 4), cudaArrayTextureGather));
  SHOW(cudaFreeArray(nullptr));
  SHOW(cudaGetLastError());
}

static void copies() {
  const auto i1 = cudaCreateChannelDesc<int>();
  cudaArray_t a = nullptr, b = nullptr;
  MUST(cudaMallocArray(&a, &i1, 8, 4));
  MUST(cudaMallocArray(&b, &i1, 8, 4));
  const auto src = ramp(32, 100);
  std::vector<int> out(32, -1);
  SHOW(cudaMemcpy2DToArray(a, 0, 0, src.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DFromArray(out.data(), 32, a, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  print("whole", out);
  SHOW(cudaMemcpy2DToArray(a, 8, 1, src.data(), 32, 12, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DFromArray(out.data(), 32, a, 0, 0, 32, 4, cudaMemcpyDefault));
  print("box", out);
  SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 4, 1, 16, 3));
  out.assign(32, -1);
  SHOW(cudaMemcpy2DFromArray(out.data(), 16, b, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
  print("between", out);
  SHOW(cudaMemcpy2DToArray(a, 8, 1, src.data(), 32, 28, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 3, src.data(), 32, 8, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, src.data(), 8, 16, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, src.data(), 32, 16, 2, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, src.data(), 32, 16, 2, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, src.data(), 32, 0, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, nullptr, 32, 16, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(nullptr, 0, 0, src.data(), 32, 16, 2, cudaMemcpyHostToDevice));
  cudaStream_t s;
  int *pinned, *device;
  MUST(cudaStreamCreate(&s));
  MUST(cudaMallocHost(&pinned, 128));
  MUST(cudaMalloc(&device, 128));
  for (int i = 0; i < 32; ++i) pinned[i] = 1000 + i;
  SHOW(cudaMemcpyAsync(device, pinned, 128, cudaMemcpyHostToDevice, s));
  SHOW(cudaMemcpy2DToArrayAsync(a, 0, 0, device, 32, 32, 4, cudaMemcpyDeviceToDevice, s));
  SHOW(cudaMemcpy2DFromArrayAsync(pinned, 32, a, 0, 2, 32, 2, cudaMemcpyDeviceToHost, s));
  SHOW(cudaStreamSynchronize(s));
  print("async", std::vector<int>(pinned, pinned + 18));
  MUST(cudaFreeHost(pinned));
  MUST(cudaFree(device));
  SHOW(cudaFreeArray(a));
  SHOW(cudaFreeArray(b));
}

static void volumes() {
  const auto s2 = cudaCreateChannelDesc<short2>();
  cudaArray_t a = nullptr, b = nullptr;
  MUST(cudaMalloc3DArray(&a, &s2, make_cudaExtent(4, 3, 2)));
  MUST(cudaMalloc3DArray(&b, &s2, make_cudaExtent(4, 3, 2)));
  auto src = ramp(24);
  std::vector<int> out(24, -1);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(src.data(), 16, 4, 3);
  p.dstArray = a;
  p.extent = make_cudaExtent(4, 3, 2);
  p.kind = cudaMemcpyHostToDevice;
  SHOW(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q = {};
  q.srcArray = a;
  q.srcPos = make_cudaPos(1, 1, 0);
  q.dstArray = b;
  q.extent = make_cudaExtent(3, 2, 2);
  q.kind = cudaMemcpyDeviceToDevice;
  SHOW(cudaMemcpy3D(&q));
  cudaMemcpy3DParms r = {};
  r.srcArray = b;
  r.dstPtr = make_cudaPitchedPtr(out.data(), 16, 4, 3);
  r.dstPos = make_cudaPos(4, 1, 0);  // bytes in linear memory
  r.extent = make_cudaExtent(3, 2, 2);
  r.kind = cudaMemcpyDeviceToHost;
  SHOW(cudaMemcpy3D(&r));
  print("volume", out);
  r.dstPos = make_cudaPos(1, 1, 0);
  SHOW(cudaMemcpy3D(&r));
  print("volume, one on", out);
  r.dstPtr.xsize = 16;
  r.dstPos = make_cudaPos(4, 1, 0);
  SHOW(cudaMemcpy3D(&r));
  print("volume, wide", out);
  r.extent = make_cudaExtent(5, 2, 2);
  SHOW(cudaMemcpy3D(&r));
  r.extent = make_cudaExtent(3, 2, 3);
  SHOW(cudaMemcpy3D(&r));
  r.extent = make_cudaExtent(0, 2, 2);
  SHOW(cudaMemcpy3D(&r));
  r.extent = make_cudaExtent(3, 2, 2);
  r.kind = cudaMemcpyHostToDevice;
  SHOW(cudaMemcpy3D(&r));
  r.kind = cudaMemcpyDeviceToHost;
  r.dstArray = a;
  SHOW(cudaMemcpy3D(&r));
  SHOW(cudaMemcpy3D(nullptr));
  MUST(cudaFreeArray(a));
  MUST(cudaFreeArray(b));
}

static void mipmaps() {
  const auto f1 = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t m = nullptr;
  cudaArray_t level = nullptr;
  SHOW(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(16, 6, 0), 9));
  for (unsigned i = 0; i < 6; ++i)
    if (SHOW(cudaGetMipmappedArrayLevel(&level, m, i)) == cudaSuccess) describe(level);
  SHOW(cudaFreeMipmappedArray(m));
  SHOW(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(8, 8, 4), 3));
  SHOW(cudaGetMipmappedArrayLevel(&level, m, 2));
  describe(level);
  SHOW(cudaGetMipmappedArrayLevel(&level, m, 3));
  SHOW(cudaFreeMipmappedArray(m));
  SHOW(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(8, 8, 4), 3, cudaArrayLayered));
  SHOW(cudaGetMipmappedArrayLevel(&level, m, 1));
  describe(level);
  SHOW(cudaFreeMipmappedArray(m));
  SHOW(cudaMallocMipmappedArray(&m, &f1, make_cudaExtent(8, 8, 0), 0));
  SHOW(cudaGetLastError());
}

// The old copies of one dimension: rows follow each other.
static void runs() {
  const auto i1 = cudaCreateChannelDesc<int>();
  cudaArray_t a = nullptr, b = nullptr;
  MUST(cudaMallocArray(&a, &i1, 5, 4));
  MUST(cudaMallocArray(&b, &i1, 5, 4));
  const auto src = ramp(20);
  std::vector<int> out(20, -1);
  SHOW(cudaMemcpyToArray(a, 0, 0, src.data(), 80, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyFromArray(out.data(), a, 0, 0, 80, cudaMemcpyDeviceToHost));
  print("all", out);
  SHOW(cudaMemcpyToArray(a, 12, 1, src.data(), 28, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyFromArray(out.data(), a, 0, 0, 80, cudaMemcpyDeviceToHost));
  print("some", out);
  SHOW(cudaMemcpyFromArray(out.data(), a, 8, 2, 32, cudaMemcpyDeviceToHost));
  print("from", std::vector<int>(out.begin(), out.begin() + 8));
  SHOW(cudaMemcpyToArray(a, 0, 3, src.data(), 24, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyToArray(a, 0, 0, src.data(), 80, cudaMemcpyDeviceToHost));
  MUST(cudaFreeArray(a));
  MUST(cudaFreeArray(b));
}

int main() {
  shapes();
  wrong();
  copies();
  volumes();
  mipmaps();
  runs();
  return 0;
}
