// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Arrays, textures and surfaces of the driver API; copies between arrays and everything else.
#include <vector>

#include "cu.h"

int main() {
  MUST(cudaFree(nullptr));
  CUarray a, b, made;
  CUDA_ARRAY_DESCRIPTOR d = {8, 4, CU_AD_FORMAT_SIGNED_INT32, 1}, told = {};
  CU(cuArrayCreate(&a, &d));
  CUDA_ARRAY3D_DESCRIPTOR d3 = {8, 4, 2, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST}, told3 = {};
  CU(cuArray3DCreate(&b, &d3));
  CU(cuArrayGetDescriptor(&told, a));
  std::printf("  %zu %zu %x %u\n", told.Width, told.Height, told.Format, told.NumChannels);
  CU(cuArray3DGetDescriptor(&told3, b));
  std::printf("  %zu %zu %zu %x %u %u\n", told3.Width, told3.Height, told3.Depth, told3.Format, told3.NumChannels, told3.Flags);
  d.NumChannels = 3;
  CU(cuArrayCreate(&made, &d));
  d.NumChannels = 1, d.Format = static_cast<CUarray_format>(5);
  CU(cuArrayCreate(&made, &d));
  d.Format = CU_AD_FORMAT_FLOAT, d.Width = 0;
  CU(cuArrayCreate(&made, &d));
  d3.Flags = CUDA_ARRAY3D_CUBEMAP;
  CU(cuArray3DCreate(&made, &d3));

  std::vector<int> host(64), out(64, -1);
  for (int i = 0; i < 64; ++i) host[i] = i;
  CUdeviceptr linear;
  CU(cuMemAlloc(&linear, 256));
  CU(cuMemcpyHtoD(linear, host.data(), 256));
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = host.data();
  c.srcPitch = 32;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = a;
  c.WidthInBytes = 32;
  c.Height = 4;
  CU(cuMemcpy2D(&c));
  c.dstXInBytes = 8, c.dstY = 2, c.WidthInBytes = 16, c.Height = 2;
  CU(cuMemcpy2D(&c));
  c.Height = 3;
  CU(cuMemcpy2D(&c));
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = a;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = out.data();
  back.WidthInBytes = 32;
  back.Height = 4;
  CU(cuMemcpy2D(&back));
  for (int i = 0; i < 32; ++i) std::printf("%d%s", out[i], i % 8 == 7 ? "\n" : " ");

  CUDA_MEMCPY3D v = {};
  v.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  v.srcDevice = linear;
  v.srcPitch = 32, v.srcHeight = 4;
  v.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  v.dstArray = b;
  v.WidthInBytes = 32, v.Height = 4, v.Depth = 2;
  CU(cuMemcpy3D(&v));
  CUDA_MEMCPY3D w = {};
  w.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  w.srcArray = b;
  w.srcXInBytes = 4, w.srcY = 1, w.srcZ = 1;
  w.dstMemoryType = CU_MEMORYTYPE_HOST;
  w.dstHost = out.data();
  w.dstPitch = 12, w.dstHeight = 2;
  w.WidthInBytes = 12, w.Height = 2, w.Depth = 1;
  CU(cuMemcpy3D(&w));
  for (int i = 0; i < 6; ++i) std::printf("%d%s", out[i], i % 3 == 2 ? "\n" : " ");
  w.Depth = 2;
  CU(cuMemcpy3D(&w));

  CUarray line;
  d = {16, 0, CU_AD_FORMAT_SIGNED_INT32, 1};
  CU(cuArrayCreate(&line, &d));
  CU(cuMemcpyHtoA(line, 0, host.data(), 64));
  CU(cuMemcpyDtoA(line, 16, linear, 16));
  CU(cuMemcpyAtoH(out.data(), line, 8, 32));
  for (int i = 0; i < 8; ++i) std::printf("%d%s", out[i], i == 7 ? "\n" : " ");
  CU(cuMemcpyAtoD(linear, line, 32, 16));
  CU(cuMemcpyDtoH(out.data(), linear, 16));
  VALUE(out[3]);
  CU(cuMemcpyAtoA(line, 0, line, 32, 16));
  CU(cuMemcpyAtoH(out.data(), line, 0, 16));
  VALUE(out[0]);
  CU(cuMemcpyHtoA(line, 60, host.data(), 8));

  CUDA_RESOURCE_DESC r = {};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = b;
  CUDA_TEXTURE_DESC t = {};
  t.flags = CU_TRSF_READ_AS_INTEGER;
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  CU(cuTexObjectCreate(&texture, &r, &t, nullptr));
  CUDA_RESOURCE_DESC r2 = {};
  CU(cuTexObjectGetResourceDesc(&r2, texture));
  VALUE(r2.res.array.hArray == b);
  CU(cuTexObjectDestroy(texture));
  CU(cuSurfObjectCreate(&surface, &r));
  CU(cuSurfObjectDestroy(surface));
  r.res.array.hArray = a;
  CU(cuSurfObjectCreate(&surface, &r));
  t.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CU(cuTexObjectCreate(&texture, &r, &t, nullptr));
  t.flags = 0x1000;
  CU(cuTexObjectCreate(&texture, &r, &t, nullptr));

  CUmipmappedArray m;
  d3 = {8, 8, 0, CU_AD_FORMAT_FLOAT, 2, 0};
  CU(cuMipmappedArrayCreate(&m, &d3, 3));
  CU(cuMipmappedArrayGetLevel(&made, m, 2));
  CU(cuArrayGetDescriptor(&told, made));
  std::printf("  %zu %zu %x %u\n", told.Width, told.Height, told.Format, told.NumChannels);
  CU(cuMipmappedArrayGetLevel(&made, m, 3));
  CU(cuMipmappedArrayDestroy(m));
  CU(cuArrayDestroy(a));
  CU(cuArrayDestroy(b));
  CU(cuArrayDestroy(line));
  CU(cuMemFree(linear));
  return 0;
}
