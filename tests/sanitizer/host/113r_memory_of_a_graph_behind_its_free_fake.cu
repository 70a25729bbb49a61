// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113, 115
// A kernel behind the launch of a graph uses memory that the graph allocates, and the stream frees it.
#include "../twin.h"

__global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x; }
__global__ void twice(const int* data, int* out) { out[threadIdx.x] = 2 * data[threadIdx.x]; }

int main() {
  int *out = zeros(32), *data;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  must(cudaMallocAsync(&data, 128, stream), "cudaMallocAsync");
  fill<<<1, 32, 0, stream>>>(data);
  must(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  twice<<<1, 32, 0, stream>>>(data, out);
  must(cudaFreeAsync(data, stream), "cudaFreeAsync");
  return judge(out, 32, [](int i) { return 2 * i; });
}
