// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 114
// A second stream was drawn into the capture and never joined the first again.
#include "../twin.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = zeros(64);
  cudaStream_t stream, side;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork);
  kernel<<<1, 32, 0, stream>>>(out);
  kernel<<<1, 32, 0, side>>>(out + 32);
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);  // expect: api-error
  std::printf("capture: %s\n", cudaGetErrorName(end));
  return ended();
}
