// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Green contexts: multiprocessors divided, streams over a part of them, what their kernels and their contexts report.
#include "cu.h"

namespace {

void told(const char* what, CUresult e, const CUdevResource& r) {
  std::printf("%s: %d", what, e);
  if (e == CUDA_SUCCESS)
    std::printf(" type %d: %u of at least %u, %u together", r.type, r.sm.smCount, r.sm.minSmPartitionSize,
                r.sm.smCoscheduledAlignment);
  std::printf("\n");
}

void splits(const CUdevResource& all) {
  // How many eights there are depends on the chip: 15 of 132 were seen, where 132 / 8 is 16.
  for (unsigned flags : {0u, 1u, 2u, 3u, 4u})
    for (unsigned least : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 9u, 16u, 18u, 24u, 32u, 64u, 100u, 120u, 130u, 132u, 133u, 200u}) {
      if (!(flags & 1) && least <= 8) continue;
      unsigned most = 0;
      const CUresult e = cuDevSmResourceSplitByCount(nullptr, &most, &all, nullptr, flags, least);
      std::printf("split %u by %u: %d groups %u", flags, least, e, most);
      if (e == CUDA_SUCCESS && most > 0) {
        for (unsigned want : {1u, most}) {
          CUdevResource part[256], rest{};
          unsigned n = want;
          const CUresult f = cuDevSmResourceSplitByCount(part, &n, &all, &rest, flags, least);
          std::printf("; %u: %d %u of %u/%u/%u, rest %d %u", want, f, n, part[0].sm.smCount, part[0].sm.minSmPartitionSize,
                      part[0].sm.smCoscheduledAlignment, rest.type, rest.type ? rest.sm.smCount : 0);
          bool same = true;
          for (unsigned i = 1; i < n; ++i) same = same && part[i].sm.smCount == part[0].sm.smCount;
          std::printf(same ? "" : " (unequal)");
        }
      }
      std::printf("\n");
    }
}

__global__ void where(unsigned* seen, unsigned* count) {
  unsigned sm, n;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(n));
  seen[sm] = 1;
  *count = n;
}

void contexts(const CUdevResource& all) {
  CUdevResource part[2], rest{};
  unsigned n = 2;
  CU(cuDevSmResourceSplitByCount(part, &n, &all, &rest, 0, 16));
  CUdevResourceDesc desc = nullptr;
  CU(cuDevResourceGenerateDesc(&desc, part, 1));
  CUgreenCtx green = nullptr, other = nullptr;
  CU(cuGreenCtxCreate(&green, desc, 0, 0));
  CU(cuGreenCtxCreate(&green, desc, 99, CU_GREEN_CTX_DEFAULT_STREAM));
  CU(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CU(cuDevResourceGenerateDesc(&desc, part, 2));
  CU(cuGreenCtxCreate(&other, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  unsigned long long a = 0, b = 0;
  CU(cuGreenCtxGetId(green, &a));
  CU(cuGreenCtxGetId(other, &b));
  VALUE(a != b);
  CUdevResource r{};
  told("of the first", cuGreenCtxGetDevResource(green, &r, CU_DEV_RESOURCE_TYPE_SM), r);
  told("of the second", cuGreenCtxGetDevResource(other, &r, CU_DEV_RESOURCE_TYPE_SM), r);
  told("of no kind", cuGreenCtxGetDevResource(other, &r, CU_DEV_RESOURCE_TYPE_INVALID), r);
  CUcontext primary = nullptr, from = nullptr, twice = nullptr, of_stream = nullptr;
  CU(cuCtxGetCurrent(&primary));
  told("of the primary", cuCtxGetDevResource(primary, &r, CU_DEV_RESOURCE_TYPE_SM), r);
  CU(cuCtxFromGreenCtx(&from, green));
  CU(cuCtxFromGreenCtx(&twice, green));
  VALUE(from == twice);
  VALUE(from != primary);
  told("of the context", cuCtxGetDevResource(from, &r, CU_DEV_RESOURCE_TYPE_SM), r);
  CUstream s = nullptr;
  CU(cuGreenCtxStreamCreate(&s, green, 0, 0));
  CU(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
  CU(cuStreamGetCtx(s, &of_stream));
  VALUE(of_stream == from);
  VALUE(of_stream == primary);
  CUgreenCtx asked = nullptr;
  CU(cuStreamGetGreenCtx(s, &asked));
  VALUE(asked == green);
  CU(cuStreamGetCtx_v2(s, &of_stream, &asked));
  VALUE(of_stream == primary);
  VALUE(asked == green);
  asked = green;
  CUstream plain = nullptr;
  CU(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
  CU(cuStreamGetGreenCtx(plain, &asked));
  VALUE(asked == nullptr);
  unsigned *seen = nullptr, host[257] = {};
  MUST(cudaMalloc(&seen, sizeof host));
  MUST(cudaMemset(seen, 0, sizeof host));
  where<<<4096, 64, 0, s>>>(seen, seen + 256);
  SHOW(cudaGetLastError());
  CU(cuStreamSynchronize(s));
  MUST(cudaMemcpy(host, seen, sizeof host, cudaMemcpyDefault));
  unsigned used = 0;
  for (int i = 0; i < 256; ++i) used += host[i];
  std::printf("multiprocessors: %u of %u\n", used, host[256]);
  int blocks = 0;
  CU(cuCtxSetCurrent(from));
  CUdevice device = 7;
  CU(cuCtxGetDevice(&device));
  SHOW(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
  VALUE(blocks);
  void* q = nullptr;
  SHOW(cudaMalloc(&q, 64));
  CUstream in = nullptr;
  CU(cuStreamCreate(&in, CU_STREAM_NON_BLOCKING));
  CU(cuStreamGetGreenCtx(in, &asked));
  VALUE(asked == green);
  SHOW(cudaMemset(seen, 0, sizeof host));
  where<<<4096, 64>>>(seen, seen + 256);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemcpy(host, seen, sizeof host, cudaMemcpyDefault));
  used = 0;
  for (int i = 0; i < 256; ++i) used += host[i];
  std::printf("multiprocessors: %u of %u\n", used, host[256]);
  CU(cuStreamDestroy(in));
  CU(cuCtxSetCurrent(primary));
  CUevent e = nullptr;
  CU(cuEventCreate(&e, 0));
  CU(cuGreenCtxRecordEvent(green, e));
  CU(cuGreenCtxWaitEvent(other, e));
  CU(cuCtxRecordEvent(from, e));
  CU(cuCtxRecordEvent(primary, e));
  CU(cuCtxWaitEvent(primary, e));
  CU(cuEventSynchronize(e));
  CU(cuStreamDestroy(s));
  CU(cuGreenCtxDestroy(other));
  CU(cuGreenCtxDestroy(green));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  MUST(cudaFree(nullptr));
  CUdevResource all{};
  told("the device", cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), all);
  CUdevResource none{};
  told("no kind", cuDeviceGetDevResource(0, &none, CU_DEV_RESOURCE_TYPE_INVALID), none);
  told("no device", cuDeviceGetDevResource(99, &none, CU_DEV_RESOURCE_TYPE_SM), none);
  splits(all);
  contexts(all);
  SHOW(cudaDeviceSynchronize());
  return 0;
}
