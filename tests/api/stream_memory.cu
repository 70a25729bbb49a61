// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Streams that wait for words in memory and write them; batches of copies; attributes of streams.
#include <cstring>

#include "cu.h"

__global__ void times_plus(unsigned* p, unsigned factor, unsigned plus) { *p = *p * factor + plus; }

int main() {
  unsigned *word, *data;
  unsigned long long* wide;
  MUST(cudaMalloc(&data, 64));
  MUST(cudaMallocHost(&word, 64));
  MUST(cudaMalloc(&wide, 64));
  MUST(cudaMemset(data, 0, 64));
  MUST(cudaMemset(wide, 0, 64));
  word[0] = 0;
  times_plus<<<1, 1>>>(data, 1, 0);
  MUST(cudaDeviceSynchronize());
  cudaStream_t a, b;
  MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  const auto at = reinterpret_cast<CUdeviceptr>(word), in = reinterpret_cast<CUdeviceptr>(data), w = reinterpret_cast<CUdeviceptr>(wide);

  CU(cuStreamWaitValue32(a, at, 3, CU_STREAM_WAIT_VALUE_GEQ));
  times_plus<<<1, 1, 0, a>>>(data, 10, 7);
  SHOW(cudaStreamQuery(a));
  cudaGetLastError();
  *static_cast<volatile unsigned*>(word) = 5;
  SHOW(cudaStreamSynchronize(a));
  unsigned got = 0;
  MUST(cudaMemcpy(&got, data, 4, cudaMemcpyDeviceToHost));
  VALUE(got);

  // from stream to stream, through device memory
  CU(cuStreamWaitValue64(b, w, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  times_plus<<<1, 1, 0, b>>>(data, 10, 1);
  times_plus<<<1, 1, 0, a>>>(data, 1, 100);
  CU(cuStreamWriteValue64(a, w, 1ull << 40, CU_STREAM_WRITE_VALUE_DEFAULT));
  SHOW(cudaStreamSynchronize(b));
  MUST(cudaMemcpy(&got, data, 4, cudaMemcpyDeviceToHost));
  VALUE(got);

  CUstreamBatchMemOpParams list[3] = {};
  list[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  list[0].writeValue.address = in;
  list[0].writeValue.value = 77;
  list[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  list[1].waitValue.address = in;
  list[1].waitValue.value = 1;
  list[1].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  list[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  list[2].writeValue.address = in + 4;
  list[2].writeValue.value = 78;
  CU(cuStreamBatchMemOp(a, 3, list, 0));
  SHOW(cudaStreamSynchronize(a));
  unsigned pair[2] = {};
  MUST(cudaMemcpy(pair, data, 8, cudaMemcpyDeviceToHost));
  VALUE(pair[0]);
  VALUE(pair[1]);
  CU(cuStreamBatchMemOp(a, 0, list, 0));
  CU(cuStreamWriteValue32(a, in + 2, 1, 0));
  CU(cuStreamWriteValue32(a, 0, 1, 0));
  CU(cuStreamWaitValue32(a, in + 1, 1, 0));

  // batches of copies
  void *to[2] = {data, wide}, *from[2] = {word, word + 4};
  size_t sizes[2] = {8, 4}, firsts[1] = {0};
  cudaMemcpyAttributes attributes[1] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  word[0] = 1, word[1] = 2, word[4] = 9;
  SHOW(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, firsts, 1, a));
  SHOW(cudaStreamSynchronize(a));
  MUST(cudaMemcpy(pair, data, 8, cudaMemcpyDeviceToHost));
  VALUE(pair[1]);
  MUST(cudaMemcpy(pair, wide, 4, cudaMemcpyDeviceToHost));
  VALUE(pair[0]);
  SHOW(cudaMemcpyBatchAsync(to, from, sizes, 0, attributes, firsts, 1, a));
  SHOW(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, firsts, 0, a));
  SHOW(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, firsts, 1, nullptr));
  cudaGetLastError();

  CUstreamAttrValue value = {};
  CU(cuStreamGetAttribute(a, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  CU(cuStreamSetAttribute(a, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  CU(cuStreamCopyAttributes(b, a));
  value.syncPolicy = CU_SYNC_POLICY_AUTO;
  CU(cuStreamGetAttribute(b, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  VALUE(value.syncPolicy);
  CUcontext own = nullptr, current = nullptr;
  CUgreenCtx green = nullptr;
  CU(cuStreamGetCtx_v2(a, &own, &green));
  CU(cuCtxGetCurrent(&current));
  VALUE(own == current);
  VALUE(green == nullptr);
  SHOW(cudaCtxResetPersistingL2Cache());
  return 0;
}
