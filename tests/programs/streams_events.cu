// SPDX-License-Identifier: Apache-2.0
// Streams in parallel and in order, events between them, the default stream's rule, host functions, pinned memory,
// times.
#include "program.h"
using namespace program;

__global__ void step(uint32_t* v, int n, uint32_t salt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = mix(v[i] + salt);
}
__global__ void combine(uint32_t* out, const uint32_t* a, const uint32_t* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * 3 + b[i];
}

struct Note { int order[8]; int count = 0; };
void CUDART_CB record(void* note) {
  Note* n = static_cast<Note*>(note);
  n->order[n->count] = n->count * 11;
  ++n->count;
}

int main() {
  const int n = 5000, streams = 4, blocks = (n + 127) / 128;
  uint32_t *host_in, *host_out;
  MUST(cudaMallocHost(&host_in, streams * n * 4));
  MUST(cudaHostAlloc(&host_out, streams * n * 4, cudaHostAllocDefault));
  const std::vector<uint32_t> in = random_words(streams * n, 6);
  std::memcpy(host_in, in.data(), streams * n * 4);
  Device<uint32_t> data(streams * n), sum(n);
  cudaStream_t stream[streams];
  cudaEvent_t start, stop, done[streams];
  for (auto& s : stream) MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto& e : done) MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  MUST(cudaEventCreate(&start));
  MUST(cudaEventCreate(&stop));
  MUST(cudaEventRecord(start, stream[0]));
  for (int s = 0; s < streams; ++s) {
    MUST(cudaMemcpyAsync(data + s * n, host_in + s * n, n * 4, cudaMemcpyHostToDevice, stream[s]));
    for (int k = 0; k < 10; ++k) step<<<blocks, 128, 0, stream[s]>>>(data + s * n, n, s * 100 + k);
    MUST(cudaMemcpyAsync(host_out + s * n, data + s * n, n * 4, cudaMemcpyDeviceToHost, stream[s]));
    MUST(cudaEventRecord(done[s], stream[s]));
  }
  for (int s = 1; s < streams; ++s) MUST(cudaStreamWaitEvent(stream[0], done[s], 0));
  combine<<<blocks, 128, 0, stream[0]>>>(sum, data + n, data + 3 * n, n);
  Note note;
  for (int k = 0; k < 3; ++k) MUST(cudaLaunchHostFunc(stream[0], record, &note));
  MUST(cudaEventRecord(stop, stream[0]));
  MUST(cudaEventSynchronize(stop));
  expect("query after the wait", cudaEventQuery(stop) == cudaSuccess && cudaStreamQuery(stream[0]) == cudaSuccess);
  float ms = -1;
  MUST(cudaEventElapsedTime(&ms, start, stop));
  expect("time is positive", ms > 0 && ms < 60000);
  expect("no time without timing", cudaEventElapsedTime(&ms, done[0], stop) == cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  expect("host functions ran in order", note.count == 3 && note.order[2] == 22);
  std::vector<uint32_t> want = in, both(n);
  for (int s = 0; s < streams; ++s)
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < 10; ++k) want[s * n + i] = mix(want[s * n + i] + s * 100 + k);
  for (int i = 0; i < n; ++i) both[i] = want[n + i] * 3 + want[3 * n + i];
  expect_equal("four streams", std::vector<uint32_t>(host_out, host_out + streams * n), want);
  expect_equal("joined by events", sum.copy(), both);

  // A blocking stream and the default stream take turns without any event.
  cudaStream_t blocking;
  MUST(cudaStreamCreate(&blocking));
  for (int k = 0; k < 6; ++k) step<<<blocks, 128, 0, k % 2 ? blocking : nullptr>>>(sum, n, k);
  MUST_RUN();
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 6; ++k) both[i] = mix(both[i] + k);
  expect_equal("default stream in turns", sum.copy(), both);
  for (auto s : stream) MUST(cudaStreamDestroy(s));
  for (auto e : done) MUST(cudaEventDestroy(e));
  MUST(cudaStreamDestroy(blocking));
  MUST(cudaEventDestroy(start));
  MUST(cudaEventDestroy(stop));
  MUST(cudaFreeHost(host_in));
  MUST(cudaFreeHost(host_out));
  return finish();
}
