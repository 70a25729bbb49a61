// SPDX-License-Identifier: Apache-2.0
// F3: the four ways of copying of gallery/sort, 262144 segments of 128 ints (an argument: other numbers of them).
#define main gallery_main
#include "../../../gallery/sort/segmented_sort.cu"
#undef main

int main(int argc, char** argv) {
  constexpr int kLength = 128;
  const int segments = argc > 1 ? std::atoi(argv[1]) : 1 << 18;
  char* none[] = {argv[0]};
  const Experiment e(1, none);
  std::vector<int> in(size_t(segments) * kLength);
  Word state = 7;
  for (int& i : in) state = state * 1664525u + 1013904223u, i = int(state);
  const DeviceArray<int> from(in);
  DeviceArray<int> to(in.size());
  const int grid = segments / kThreads, pad = kThreads * (kLength + 1) * 4, dense = kThreads * kLength * 4;
  const auto one = [&](const char* name, auto kernel, int shared, auto launch) {
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
    to.fill(0xA5);
    std::printf("%s %.3f\n", name, e.time(launch) * 1000);
    const auto got = to.copy();
    for (int s = 0; s < segments; s += 511) {
      std::vector<int> want(in.begin() + size_t(s) * kLength, in.begin() + size_t(s + 1) * kLength);
      std::sort(want.begin(), want.end());
      if (!std::equal(want.begin(), want.end(), got.begin() + size_t(s) * kLength)) std::printf("FAIL: %s\n", name), std::exit(1);
    }
  };
  one("sync_padded", padded<kLength, false>, pad, [&] { padded<kLength, false><<<grid, kThreads, pad>>>(from.get(), to.get(), segments); });
  one("cp_async_padded", padded<kLength, true>, pad, [&] { padded<kLength, true><<<grid, kThreads, pad>>>(from.get(), to.get(), segments); });
  one("cp_async_swizzled", swizzled<kLength>, dense, [&] {
    swizzled<kLength><<<grid, kThreads, dense>>>(reinterpret_cast<int4*>(from.get()), reinterpret_cast<int4*>(to.get()), segments);
  });
  const cuuint64_t dims[] = {32, cuuint64_t(segments), kLength / 32}, strides[] = {4, kLength * 4, 128};
  const cuuint32_t box[] = {32, kThreads, kLength / 32};
  const auto type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  const CUtensorMap source = tensor_map(from.get(), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B, type);
  const CUtensorMap target = tensor_map(to.get(), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B, type);
  one("bulk_tensor", bulk_tensor<kLength>, dense, [&] { bulk_tensor<kLength><<<grid, kThreads, dense>>>(source, target); });
  std::puts("ok");
}
