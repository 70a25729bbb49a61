// SPDX-License-Identifier: Apache-2.0
// A system that starts no more threads (`ulimit -u`, a container's limit): work is done without them or refused with
// cudaErrorOperatingSystem, and nothing ends the process or waits for ever. Each test is a process of its own.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

namespace {
std::atomic<int> threads_left{1 << 20};
}

// In place of the C library's: the libraries call what the program exports.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*run)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return threads_left.fetch_sub(1) > 0 ? real(thread, attributes, run, argument) : EAGAIN;
}

namespace {

const char kModule[] = R"(.version 8.6
.target sm_80
.address_size 64
.visible .entry plus(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %q0;
  ld.param.u64 %q0, [p];
  atom.global.add.u32 %r0, [%q0], 1;
  ret;
}
)";

class NoThreads : public testing::Test {
 protected:
  void SetUp() override {
    setenv("UNDERSTUDY_THREADS", "8", 1);
    alarm(60);
  }
  void start(int threads) {
    threads_left = threads;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&word_), sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cudaMemset(word_, 0, sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cuModuleLoadData(&module_, kModule), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&plus_, module_, "plus"), CUDA_SUCCESS);
  }
  CUresult launch() {
    void* arguments[] = {&word_};
    return cuLaunchKernel(plus_, 10, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  }
  unsigned* word_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction plus_ = nullptr;
};

TEST_F(NoThreads, OfManyWorkersOneIsEnough) {
  start(1);
  EXPECT_EQ(launch(), CUDA_SUCCESS);
  unsigned sum = 0;
  EXPECT_EQ(cudaMemcpy(&sum, word_, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(sum, 640u);
}

TEST_F(NoThreads, AKernelWithoutWorkersIsRefused) {
  start(0);
  launch();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorOperatingSystem);
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&word_), 4), cudaErrorOperatingSystem);
}

TEST_F(NoThreads, CopiesAndHostFunctionsAreDoneWithout) {
  start(1);
  cudaStream_t stream;
  int calls = 0;
  void *to = nullptr, *from = nullptr;
  const size_t bytes = 32 << 20;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&to, bytes), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&from, bytes), cudaSuccess);
  static_cast<unsigned char*>(from)[bytes - 1] = 7;
  EXPECT_EQ(launch(), CUDA_SUCCESS);
  EXPECT_EQ(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void* n) { ++*static_cast<int*>(n); }, &calls),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  unsigned char last = 0;
  EXPECT_EQ(cudaMemcpy(&last, static_cast<unsigned char*>(to) + bytes - 1, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(last, 7);
  EXPECT_EQ(calls, 1);
}

TEST_F(NoThreads, AWaitForAValueIsRefused) {
  start(1);
  EXPECT_EQ(cuStreamWaitValue32(nullptr, reinterpret_cast<CUdeviceptr>(word_), 1, CU_STREAM_WAIT_VALUE_EQ),
            CUDA_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorOperatingSystem);
}

}  // namespace
