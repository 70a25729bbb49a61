// SPDX-License-Identifier: Apache-2.0
// Host side of the CUDA versions: kernels/<name>/kernel.cu defines the kernel and launch_kernel(); this file adds
// main().
#pragma once
#include <cuda_runtime.h>

#include "common.h"
#include "problem.h"

static void ok(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: CUDA: %s failed: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

// Device pointers of the buffers and the scalars, in the problem's order.
struct Arguments {
  std::vector<void*> memory;
  std::vector<bench::Scalar> scalars;
  template <class T>
  T* buffer(size_t i) const {
    return static_cast<T*>(memory[i]);
  }
  template <class T>
  T scalar(size_t i) const {
    T value;
    std::memcpy(&value, scalars[i].value, sizeof value);
    return value;
  }
};

void launch_kernel(dim3 grid, dim3 block, const Arguments& arguments);

struct CudaDevice {
  Arguments arguments;
  std::vector<size_t> bytes;
  void create(const std::vector<bench::Buffer>& buffers, const std::vector<bench::Scalar>& values) {
    for (const auto& buffer : buffers) {
      void* pointer = nullptr;
      ok(cudaMalloc(&pointer, buffer.bytes), "cudaMalloc");
      ok(cudaMemset(pointer, 0, buffer.bytes), "cudaMemset");
      arguments.memory.push_back(pointer);
      bytes.push_back(buffer.bytes);
    }
    arguments.scalars = values;
    ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  void build() {}
  void upload(size_t i, const void* from) {
    ok(cudaMemcpy(arguments.memory[i], from, bytes[i], cudaMemcpyHostToDevice), "cudaMemcpy");
    ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  void download(size_t i, void* to) {
    ok(cudaMemcpy(to, arguments.memory[i], bytes[i], cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  void launch(const bench::Launch& l) {
    launch_kernel({l.grid[0], l.grid[1], l.grid[2]}, {l.block[0], l.block[1], l.block[2]}, arguments);
    ok(cudaGetLastError(), "launch");
    ok(cudaDeviceSynchronize(), "kernel");
  }
};

int main(int argc, char** argv) {
  CudaDevice device;
  return bench::run_bench<Problem>("understudy", device, argc, argv);
}
