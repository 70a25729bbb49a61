// SPDX-License-Identifier: Apache-2.0
// Host side of the native versions: kernels/<name>/native.cpp defines run(data); this file adds main().
#pragma once
#include <omp.h>

#include "common.h"
#include "problem.h"

// One pointer per buffer of the problem, in order. Runs on as many threads as OMP_NUM_THREADS says.
void run(char* const* data);

struct NativeDevice {
  std::vector<char*> data;
  std::vector<size_t> bytes;
  void create(const std::vector<bench::Buffer>& buffers, const std::vector<bench::Scalar>&) {
    for (const auto& buffer : buffers) {
      data.push_back(bench::allocate(buffer.bytes));
      bytes.push_back(buffer.bytes);
      std::memset(data.back(), 0, buffer.bytes);
    }
  }
  void build() {}
  void upload(size_t i, const void* from) { std::memcpy(data[i], from, bytes[i]); }
  void download(size_t i, void* to) { std::memcpy(to, data[i], bytes[i]); }
  void launch(const bench::Launch&) { run(data.data()); }
};

int main(int argc, char** argv) {
  NativeDevice device;
  return bench::run_bench<Problem>("native", device, argc, argv);
}
