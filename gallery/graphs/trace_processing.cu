// SPDX-License-Identifier: Apache-2.0
// flags: -lcufft
// needs: cufft.h
// Many small pieces of work, of a library and of kernels, in streams and as one graph.
//
//                     ┌─ spread ─ inverse FFT ─ sum of even, sum of odd samples ─ weight ─┐
//   input ─ forward ──┼─ spread ─ inverse FFT ─ ...                                       ├─ stack
//           FFT       └─ ... a hundred traces, each of a length of its own               ─┘
//
// The lengths differ, so no plan can batch them. The same calls are made twice: into streams that events fork and join,
// and into a capture whose graph is launched once per step. Both must give the same bits; the first is checked against
// a transform in double precision on the CPU.
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cufft.h>

#include <cmath>
#include <complex>

#include "../experiment.h"

namespace {

using gallery::must;

constexpr int kInput = 1024, kBins = kInput / 2 + 1, kTraces = 100, kStreams = 8, kSteps = 5, kThreads = 128;

void must_fft(cufftResult r, const char* what) {
  if (r == CUFFT_SUCCESS) return;
  std::printf("FAIL: %s: cufft %d\n", what, int(r));
  std::exit(1);
}

// Even lengths from 128 to 8192, no two alike in a row.
int length_of(int trace, bool small) {
  const unsigned mixed = (unsigned(trace) * 2654435761u) >> 12;
  return 128 + 2 * int(mixed % (small ? 449u : 4033u));
}

__host__ __device__ float weight_of_bin(int trace, int bin) { return 1.0f / float(1 + ((trace * 31 + bin) & 63)); }
__host__ __device__ float input_sample(int i, int step) {
  const unsigned v = (unsigned(i) * 747796405u + unsigned(step) * 2891336453u) * 277803737u;
  return float(int(v >> 9) - (1 << 22)) * (1.0f / float(1 << 22));
}

__global__ void make_input(float* x, const int* step) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kInput) x[i] = input_sample(i, *step);
}
__global__ void next_step(int* step) { ++*step; }

// The bins that both have, weighted; the rest is empty.
__global__ void spread(const cufftComplex* from, cufftComplex* to, int bins, int trace) {
  const int k = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= bins) return;
  const float w = k < kBins ? weight_of_bin(trace, k) : 0.0f;
  to[k] = k < kBins ? cufftComplex{from[k].x * w, from[k].y * w} : cufftComplex{0, 0};
}

struct Every2nd {
  const float* at;
  __host__ __device__ float operator()(int i) const { return at[2 * i] * at[2 * i]; }
};

__global__ void weigh(const float* even, const float* odd, float* weight) { *weight = rsqrtf(*even + *odd); }

__global__ void stack(float* const* traces, const int* lengths, const float* weights, float* out, const int* step) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= kInput) return;
  float sum = 0;
  for (int t = 0; t < kTraces; ++t) sum = fmaf(weights[t], traces[t][i % lengths[t]], sum);
  out[*step * kInput + i] = sum;
}

template <class T>
T* device(size_t count) {
  T* p = nullptr;
  must(cudaMalloc(&p, count * sizeof(T)), "cudaMalloc");
  return p;
}

struct Trace {
  int length = 0;
  cufftHandle inverse = 0;
  cufftComplex* spectrum = nullptr;
  float *samples = nullptr, *sums = nullptr;  // even, odd
  void* temporary = nullptr;
  size_t bytes = 0;
};

class Processing {
 public:
  explicit Processing(bool small) {
    must_fft(cufftPlan1d(&forward_, kInput, CUFFT_R2C, 1), "plan");
    std::vector<float*> samples;
    std::vector<int> lengths;
    for (int t = 0; t < kTraces; ++t) {
      Trace& r = traces_[t];
      r.length = length_of(t, small);
      must_fft(cufftPlan1d(&r.inverse, r.length, CUFFT_C2R, 1), "plan");
      r.spectrum = device<cufftComplex>(size_t(r.length) / 2 + 1);
      r.samples = device<float>(size_t(r.length));
      r.sums = device<float>(2);
      reduce(r, 0, nullptr);
      must(cudaMalloc(&r.temporary, r.bytes), "cudaMalloc");
      samples.push_back(r.samples);
      lengths.push_back(r.length);
    }
    must(cudaMemcpy(samples_, samples.data(), kTraces * sizeof(float*), cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(lengths_, lengths.data(), kTraces * sizeof(int), cudaMemcpyHostToDevice), "copy");
    for (cudaStream_t& s : streams_) must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
    for (cudaEvent_t& e : joined_) must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "event");
    must(cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming), "event");
  }

  ~Processing() {
    cufftDestroy(forward_);
    for (Trace& t : traces_) cufftDestroy(t.inverse), cudaFree(t.spectrum), cudaFree(t.samples), cudaFree(t.sums), cudaFree(t.temporary);
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  }

  // One step: everything goes into the first stream and those that fork from it.
  void step() {
    const cudaStream_t main = streams_[0];
    make_input<<<kInput / kThreads, kThreads, 0, main>>>(input_, step_);
    must_fft(cufftSetStream(forward_, main), "stream");
    must_fft(cufftExecR2C(forward_, input_, spectrum_), "forward");
    must(cudaEventRecord(forked_, main), "fork");
    for (int s = 1; s < kStreams; ++s) must(cudaStreamWaitEvent(streams_[s], forked_, 0), "fork");
    for (int t = 0; t < kTraces; ++t) process(t, streams_[t % kStreams]);
    for (int s = 1; s < kStreams; ++s) {
      must(cudaEventRecord(joined_[s], streams_[s]), "join");
      must(cudaStreamWaitEvent(main, joined_[s], 0), "join");
    }
    stack<<<kInput / kThreads, kThreads, 0, main>>>(samples_, lengths_, weights_, out_, step_);
    next_step<<<1, 1, 0, main>>>(step_);
    must(cudaGetLastError(), "launch");
  }

  cudaGraphExec_t capture(size_t& nodes) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    must(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeGlobal), "capture");
    step();
    must(cudaStreamEndCapture(streams_[0], &graph), "capture");
    must(cudaGraphGetNodes(graph, nullptr, &nodes), "nodes");
    must(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    must(cudaGraphDestroy(graph), "graph");
    return exec;
  }

  template <class F>
  std::vector<float> run(F&& one_step) {
    must(cudaMemset(step_, 0, sizeof(int)), "set");
    must(cudaMemset(out_, 0xff, kSteps * kInput * sizeof(float)), "set");
    must(cudaDeviceSynchronize(), "set");
    for (int i = 0; i < kSteps; ++i) one_step();
    must(cudaStreamSynchronize(streams_[0]), "execution");
    std::vector<float> out(kSteps * kInput);
    must(cudaMemcpy(out.data(), out_, out.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    return out;
  }

  cudaStream_t stream() const { return streams_[0]; }

 private:
  void reduce(Trace& r, int odd, cudaStream_t s) {
    const auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Every2nd{r.samples + odd});
    must(cub::DeviceReduce::Sum(r.temporary, r.bytes, squares, r.sums + odd, r.length / 2, s), "reduce");
  }
  void process(int t, cudaStream_t s) {
    Trace& r = traces_[t];
    const int bins = r.length / 2 + 1;
    spread<<<(bins + kThreads - 1) / kThreads, kThreads, 0, s>>>(spectrum_, r.spectrum, bins, t);
    must_fft(cufftSetStream(r.inverse, s), "stream");
    must_fft(cufftExecC2R(r.inverse, r.spectrum, r.samples), "inverse");
    reduce(r, 0, s);
    reduce(r, 1, s);
    weigh<<<1, 1, 0, s>>>(r.sums, r.sums + 1, weights_ + t);
  }

  cufftHandle forward_ = 0;
  Trace traces_[kTraces];
  float* input_ = device<float>(kInput);
  cufftComplex* spectrum_ = device<cufftComplex>(kBins);
  float** samples_ = device<float*>(kTraces);
  int* lengths_ = device<int>(kTraces);
  float* weights_ = device<float>(kTraces);
  float* out_ = device<float>(kSteps * kInput);
  int* step_ = device<int>(1);
  cudaStream_t streams_[kStreams];
  cudaEvent_t forked_, joined_[kStreams];
};

// ---- the same on the CPU, straight from the definition ----

using Complex = std::complex<double>;

std::vector<Complex> turns(int n) {
  std::vector<Complex> w(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) w[size_t(i)] = std::polar(1.0, 2 * M_PI * i / n);
  return w;
}

std::vector<double> reference(int step, bool small) {
  std::vector<Complex> spectrum(kBins);
  const auto w = turns(kInput);
  for (int k = 0; k < kBins; ++k)
    for (int i = 0; i < kInput; ++i) spectrum[size_t(k)] += double(input_sample(i, step)) * std::conj(w[size_t(i) * size_t(k) % kInput]);
  std::vector<double> out(kInput);
  for (int t = 0; t < kTraces; ++t) {
    const int n = length_of(t, small), bins = n / 2 + 1;
    const auto u = turns(n);
    std::vector<double> y(static_cast<size_t>(n));
    double energy = 0;
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < bins && k < kBins; ++k) {
        const Complex v = spectrum[size_t(k)] * double(weight_of_bin(t, k));
        const bool single = k == 0 || 2 * k == n;
        sum += (single ? 1 : 2) * (v.real() * u[size_t(i) * size_t(k) % size_t(n)].real() -
                                   (single ? 0 : v.imag() * u[size_t(i) * size_t(k) % size_t(n)].imag()));
      }
      y[size_t(i)] = sum;
      energy += sum * sum;
    }
    for (int i = 0; i < kInput; ++i) out[size_t(i)] += y[size_t(i % n)] / std::sqrt(energy);
  }
  return out;
}

double largest_error(const std::vector<float>& got, int step, bool small) {
  const auto want = reference(step, small);
  double worst = 0, scale = 0;
  for (int i = 0; i < kInput; ++i) {
    worst = std::max(worst, std::abs(double(got[size_t(step * kInput + i)]) - want[size_t(i)]));
    scale = std::max(scale, std::abs(want[size_t(i)]));
  }
  return worst / scale;
}

}  // namespace

int main(int argc, char** argv) {
  gallery::Experiment e(argc, argv);
  const bool small = !e.h200;
  Processing p(small);
  int longest = 0, samples = 0;
  for (int t = 0; t < kTraces; ++t) samples += length_of(t, small), longest = std::max(longest, length_of(t, small));
  std::printf("%d traces, %d samples, the longest %d\n", kTraces, samples, longest);

  p.run([&] { p.step(); });  // everything is loaded and compiled
  const auto streams = p.run([&] { p.step(); });
  size_t nodes = 0;
  const cudaGraphExec_t exec = p.capture(nodes);
  const auto graph = p.run([&] { must(cudaGraphLaunch(exec, p.stream()), "launch"); });

  const bool same = !std::memcmp(streams.data(), graph.data(), streams.size() * sizeof(float));
  std::printf("graph and streams: %s\n", same ? "the same bits" : "DIFFERENT");
  bool close = true;
  for (int step : {0, kSteps - 1}) {
    const double error = largest_error(streams, step, small);
    close &= error < 2e-5;
    std::printf("step %d: %s the definition\n", step, error < 2e-5 ? "as" : "NOT as");
    if (e.times) std::printf("  largest error %.2e of the largest value\n", error);
  }
  if (e.times) {
    std::printf("%zu nodes\n", nodes);
    std::printf("streams %.3f ms a step\n", e.time([&] { p.run([&] { p.step(); }); }) / kSteps);
    std::printf("graph   %.3f ms a step\n", e.time([&] { p.run([&] { cudaGraphLaunch(exec, p.stream()); }); }) / kSteps);
  }
  cudaGraphExecDestroy(exec);
  e.passed = same && close;
  return e.finish();
}
