// SPDX-License-Identifier: Apache-2.0
// The showpiece: the five pipeline structures side by side on the same data, each checked against the CPU and timed.
#include "structures.cuh"

using namespace gallery;

namespace {

void print_header(const Sizes& sizes) {
  if (sizes.times) {
    cudaDeviceProp device{};
    must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    std::printf("%s: %d SMs, %zu KB of shared memory per block\n", device.name, device.multiProcessorCount, device.sharedMemPerBlock / 1024);
  }
  std::printf("%d batches x %d blocks x %d threads, %.1f KB in, as much out\n\n", sizes.batches, sizes.blocks, sizes.threads,
              double(sizes.batches) * sizes.blocks * sizes.threads * sizeof(Word) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.blocks = 64, defaults.threads = 256, defaults.batches = 32;
  const Sizes sizes = parse_sizes(argc, argv, defaults);
  print_header(sizes);
  bool passed = true;
  const int shown[] = {1, 2, 4, 8};
  for (int stages : shown)
    if (sizes.stages == 0)
      for (const Case& c : structures(stages, sizes.threads)) passed &= run_case(c, sizes);
  if (sizes.stages)
    for (const Case& c : structures(sizes.stages, sizes.threads)) passed &= run_case(c, sizes);
  std::printf("\n");
  return verdict(passed);
}
