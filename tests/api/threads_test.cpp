// SPDX-License-Identifier: Apache-2.0
// 64 threads of a program call the API at once. Also valid on a real GPU; meant for ThreadSanitizer (./check --tsan).
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <source_location>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 64, kRounds = 4, kWords = 500;

const char kModule[] = R"(.version 8.6
.target sm_80
.address_size 64
.visible .entry plus(.param .u64 p, .param .u32 n, .param .u32 add)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %q<3>;
  ld.param.u64 %q0, [p];
  ld.param.u32 %r0, [n];
  ld.param.u32 %r1, [add];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r0;
  @%p ret;
  mad.wide.u32 %q1, %r2, 4, %q0;
  atom.global.add.u32 %r5, [%q1], %r1;
  ret;
}
)";

// No assertions in the threads: the line of what went wrong first is kept.
std::atomic<unsigned> wrong_line{0};
using Place = std::source_location;
void must(bool good, Place at = Place::current()) {
  unsigned none = 0;
  if (!good) wrong_line.compare_exchange_strong(none, at.line());
}
void must(cudaError_t e, Place at = Place::current()) { must(e == cudaSuccess, at); }

template <class F>
void at_once(F&& f) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      --waiting;
      while (waiting) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) f(t, round);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong_line.exchange(0), 0u);
}

class Threads : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaLibraryLoadData(&library_, kModule, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
    ASSERT_EQ(cudaLibraryGetKernel(&plus_, library_, "plus"), cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaLibraryUnload(library_), cudaSuccess); }
  cudaError_t add(void* d, int n, int add, cudaStream_t s) const {
    void* args[] = {&d, &n, &add};
    return cudaLaunchKernel(plus_, dim3(4), dim3(128), args, 0, s);
  }
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t plus_ = nullptr;
};

TEST_F(Threads, OwnStreamsMemoryAndEvents) {
  at_once([&](int t, int round) {
    cudaStream_t s = nullptr;
    cudaEvent_t before = nullptr, after = nullptr;
    void* d = nullptr;
    std::vector<int> out(kWords);
    must(cudaStreamCreateWithFlags(&s, t % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
    must(cudaEventCreate(&before));
    must(cudaEventCreate(&after));
    must(round % 2 ? cudaMallocAsync(&d, kWords * 4, s) : cudaMalloc(&d, kWords * 4));
    must(cudaEventRecord(before, s));
    must(cudaMemsetAsync(d, 0, kWords * 4, s));
    for (int k = 0; k < 3; ++k) must(add(d, kWords, t + k, s));
    must(cudaEventRecord(after, s));
    must(cudaMemcpyAsync(out.data(), d, kWords * 4, cudaMemcpyDeviceToHost, s));
    must(cudaStreamSynchronize(s));
    must(cudaEventQuery(after));
    float ms = -1;
    must(cudaEventElapsedTime(&ms, before, after));
    must(ms >= 0);
    for (int v : out) must(v == 3 * t + 3);
    must(round % 2 ? cudaFreeAsync(d, s) : cudaFree(d));
    must(cudaEventDestroy(before));
    must(cudaEventDestroy(after));
    must(cudaStreamDestroy(s));
  });
}

TEST_F(Threads, OneStreamAndOneBuffer) {
  void* d = nullptr;
  cudaStream_t shared = nullptr;
  ASSERT_EQ(cudaMalloc(&d, kWords * 4), cudaSuccess);
  ASSERT_EQ(cudaMemset(d, 0, kWords * 4), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&shared), cudaSuccess);
  at_once([&](int t, int) {
    must(add(d, kWords, 1, t % 4 == 0 ? shared : t % 4 == 1 ? nullptr : cudaStreamPerThread));
    if (t % 8 == 0) must(cudaDeviceSynchronize());
    const cudaError_t q = cudaStreamQuery(shared);
    must(q == cudaSuccess || q == cudaErrorNotReady);
  });
  std::vector<int> out(kWords);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(out.data(), d, kWords * 4, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int v : out) ASSERT_EQ(v, kThreads * kRounds);
  EXPECT_EQ(cudaStreamDestroy(shared), cudaSuccess);
  EXPECT_EQ(cudaFree(d), cudaSuccess);
}

TEST_F(Threads, ErrorsBelongToTheirThread) {
  at_once([&](int t, int) {
    cudaGetLastError();
    if (t % 2) {
      void* d = nullptr;
      must(cudaMalloc(&d, ~std::size_t(0) / 2) == cudaErrorMemoryAllocation);
      must(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    } else {
      must(cudaSetDevice(1000) == cudaErrorInvalidDevice);
    }
    must(cudaGetLastError() == (t % 2 ? cudaErrorMemoryAllocation : cudaErrorInvalidDevice));
    must(cudaGetLastError());
    void* args[] = {nullptr, nullptr, nullptr};
    must(cudaLaunchKernel(plus_, dim3(1), dim3(4096), args, 0, nullptr) == cudaErrorInvalidValue ||
         cudaGetLastError() == cudaErrorInvalidConfiguration);
    cudaGetLastError();
  });
}

TEST_F(Threads, ModulesHostMemoryAndQueries) {
  at_once([&](int t, int round) {
    must(cudaSetDevice(0));  // a context for the calls of the driver API
    CUmodule m = nullptr;
    CUfunction f = nullptr;
    must(cuModuleLoadData(&m, kModule) == CUDA_SUCCESS);
    must(cuModuleGetFunction(&f, m, "plus") == CUDA_SUCCESS);
    int* host = nullptr;
    must(t % 2 ? cudaMallocHost(reinterpret_cast<void**>(&host), 4 * kWords)
               : cudaMallocManaged(reinterpret_cast<void**>(&host), 4 * kWords, cudaMemAttachGlobal));
    for (int k = 0; k < kWords; ++k) host[k] = t;
    cudaPointerAttributes a;
    must(cudaPointerGetAttributes(&a, host));
    must(a.type == (t % 2 ? cudaMemoryTypeHost : cudaMemoryTypeManaged));
    std::size_t free = 0, total = 0;
    must(cudaMemGetInfo(&free, &total));
    must(free <= total);
    int n = kWords, step = round;
    void* args[] = {&host, &n, &step};
    must(cuLaunchKernel(f, 4, 1, 1, 128, 1, 1, 0, CU_STREAM_PER_THREAD, args, nullptr) == CUDA_SUCCESS);
    must(cudaStreamSynchronize(cudaStreamPerThread));
    for (int k = 0; k < kWords; ++k) must(host[k] == t + round);
    must(t % 2 ? cudaFreeHost(host) : cudaFree(host));
    must(cuModuleUnload(m) == CUDA_SUCCESS);
  });
}

}  // namespace
