// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// cuMemcpy3DPeerAsync into an array: with and without contexts named, with and without a current one.
#include "cu.h"
int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  CUcontext c = nullptr;
  MUST(cudaFree(nullptr));
  CU(cuCtxGetCurrent(&c));
  CUdeviceptr m = 0, d = 0;
  CU(cuMemAllocManaged(&m, 4096, CU_MEM_ATTACH_GLOBAL));
  CU(cuMemAlloc(&d, 4096));
  CUarray a = nullptr;
  CUDA_ARRAY_DESCRIPTOR desc{16, 0, CU_AD_FORMAT_FLOAT, 1};
  CU(cuArrayCreate(&a, &desc));
  CUstream s = nullptr;
  CU(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  float host[16] = {};
  for (int current : {1, 0}) {
    CU(cuCtxSetCurrent(current ? c : nullptr));
    for (int type : {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED})
      for (int named : {1, 0}) {
        CUDA_MEMCPY3D_PEER p{};
        p.srcMemoryType = (CUmemorytype)type;
        p.srcHost = host;
        p.srcDevice = type == CU_MEMORYTYPE_UNIFIED ? m : d;
        p.srcContext = named ? c : nullptr;
        p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        p.dstArray = a;
        p.WidthInBytes = 64;
        p.Height = p.Depth = 1;
        std::printf("current %d type %d named %d\n", current, type, named);
        CU(cuMemcpy3DPeerAsync(&p, s));
        CU(cuStreamSynchronize(s));
      }
  }
  return 0;
}
