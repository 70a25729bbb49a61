// SPDX-License-Identifier: Apache-2.0
// F8: a hundred chains of a small transform and two reductions in eight streams, which events fork and join; and the
// same calls captured as a graph.
#include "effects.h"

constexpr int kChains = 100, kStreams = 8, kPoints = 512;

__global__ void transform(const float2* in, float2* out) {  // Stockham, radix 2, 256 threads
  __shared__ float2 a[2][kPoints];
  const int t = threadIdx.x;
  a[0][t] = in[t], a[0][t + kPoints / 2] = in[t + kPoints / 2];
  int from = 0;
  for (int half = 1; half < kPoints; half *= 2, from ^= 1) {
    __syncthreads();
    const int k = t % half, at = (t - k) * 2 + k;
    const float2 x = a[from][t], y = a[from][t + kPoints / 2];
    float s, c;
    __sincosf(-3.14159265f * float(k) / float(half), &s, &c);
    const float2 w = {y.x * c - y.y * s, y.x * s + y.y * c};
    a[from ^ 1][at] = {x.x + w.x, x.y + w.y}, a[from ^ 1][at + half] = {x.x - w.x, x.y - w.y};
  }
  __syncthreads();
  out[t] = a[from][t], out[t + kPoints / 2] = a[from][t + kPoints / 2];
}

__global__ void power(const float2* in, float* out, int odd) {
  __shared__ float sums[8];
  const float2 v = in[threadIdx.x * 2 + odd];
  float p = v.x * v.x + v.y * v.y;
  for (int k = 16; k; k /= 2) p += __shfl_down_sync(~0u, p, k);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = p;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) p += sums[k];
    *out = p;
  }
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  std::vector<float2> in(kChains * kPoints);
  std::vector<double> want(kChains, 0);
  unsigned state = 1;
  for (size_t i = 0; i < in.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    in[i] = {float(state >> 20) / 4096.0f - 0.5f, float(state >> 8 & 4095) / 4096.0f - 0.5f};
    want[i / kPoints] += kPoints * (double(in[i].x) * in[i].x + double(in[i].y) * in[i].y);  // Parseval
  }
  float2 *from, *spectra;
  float* powers;
  MUST(cudaMalloc(&from, in.size() * 8)), MUST(cudaMalloc(&spectra, in.size() * 8)), MUST(cudaMalloc(&powers, kChains * 8));
  MUST(cudaMemcpy(from, in.data(), in.size() * 8, cudaMemcpyHostToDevice));
  cudaStream_t s, side[kStreams];
  cudaEvent_t fork, join[kStreams];
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)), MUST(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  for (int k = 0; k < kStreams; ++k)
    MUST(cudaStreamCreateWithFlags(&side[k], cudaStreamNonBlocking)), MUST(cudaEventCreateWithFlags(&join[k], cudaEventDisableTiming));
  const auto step = [&] {
    MUST(cudaEventRecord(fork, s));
    for (auto t : side) MUST(cudaStreamWaitEvent(t, fork));
    for (int c = 0; c < kChains; ++c) {
      const auto t = side[c % kStreams];
      transform<<<1, kPoints / 2, 0, t>>>(from + c * kPoints, spectra + c * kPoints);
      power<<<1, kPoints / 2, 0, t>>>(spectra + c * kPoints, powers + 2 * c, 0);
      power<<<1, kPoints / 2, 0, t>>>(spectra + c * kPoints, powers + 2 * c + 1, 1);
    }
    for (int k = 0; k < kStreams; ++k) MUST(cudaEventRecord(join[k], side[k])), MUST(cudaStreamWaitEvent(s, join[k]));
  };
  const auto right = [&](const char* name) {
    std::vector<float> got(kChains * 2);
    MUST(cudaMemcpy(got.data(), powers, got.size() * 4, cudaMemcpyDeviceToHost));
    for (int c = 0; c < kChains; ++c) check(std::abs(got[2 * c] + got[2 * c + 1] - want[c]) < 1e-3 * want[c], name);
    MUST(cudaMemset(powers, 0, got.size() * 4));
  };
  tell("streams", microseconds(s, step));
  right("streams");
  cudaGraph_t g;
  cudaGraphExec_t e;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  step();
  MUST(cudaStreamEndCapture(s, &g)), MUST(cudaGraphInstantiate(&e, g, 0));
  tell("graph", microseconds(s, [&] { MUST(cudaGraphLaunch(e, s)); }));
  right("graph");
  // One chain behind the other: nothing runs beside.
  const auto chain = [&] {
    for (int c = 0; c < kChains; ++c) {
      transform<<<1, kPoints / 2, 0, s>>>(from + c * kPoints, spectra + c * kPoints);
      power<<<1, kPoints / 2, 0, s>>>(spectra + c * kPoints, powers + 2 * c, 0);
      power<<<1, kPoints / 2, 0, s>>>(spectra + c * kPoints, powers + 2 * c + 1, 1);
    }
  };
  tell("one_stream", microseconds(s, chain));
  right("one stream");
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  chain();
  MUST(cudaStreamEndCapture(s, &g)), MUST(cudaGraphInstantiate(&e, g, 0));
  tell("graph_of_one_chain", microseconds(s, [&] { MUST(cudaGraphLaunch(e, s)); }));
  right("graph of one chain");
  std::puts("ok");
}
