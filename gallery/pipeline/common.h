// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: sizes from the command line, the work done on a tile, its reference on the
// CPU, the verdict.
//
// The data is batches x blocks x tile words. A kernel brings tile after tile into shared memory and turns each into as
// many output words. One output word mixes four words of its tile (itself, both neighbours, its mirror image), so a
// word that is staged late, in the wrong slot or overwritten too early changes the result.
#pragma once
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace gallery {

using Word = uint32_t;

struct Sizes {
  int blocks = 4, threads = 128, batches = 9, stages = 0;  // stages 0: every number of stages that makes sense
  bool times = true;                                       // --no-time: only what is the same on every device
  bool all = false;                                        // --all: the long form of a sweep
};

struct Job {
  const Word* in;
  Word* out;
  int batches;
};

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAIL: %s: %s (%d)\n", what, cudaGetErrorName(error), int(error));
  std::exit(1);
}

inline Sizes parse_sizes(int argc, char** argv, Sizes sizes = {}) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed before a hang is seen
  struct Option { const char* name; int* value; };
  const Option options[] = {{"--blocks", &sizes.blocks}, {"--threads", &sizes.threads},
                            {"--batches", &sizes.batches}, {"--stages", &sizes.stages}};
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    if (!std::strcmp(argv[i], "--no-time")) known = true, sizes.times = false;
    if (!std::strcmp(argv[i], "--all")) known = true, sizes.all = true;
    for (const Option& option : options)
      if (!std::strcmp(argv[i], option.name) && i + 1 < argc) known = true, *option.value = std::atoi(argv[++i]);
    if (!known) std::fprintf(stderr, "usage: %s [--blocks N] [--threads N] [--batches N] [--stages N] [--all] [--no-time]\n", argv[0]), std::exit(2);
  }
  if (sizes.blocks < 1 || sizes.threads < 2 || sizes.threads > 1024 || sizes.batches < 0 || sizes.stages < 0 || sizes.stages > 8)
    std::fprintf(stderr, "out of range: blocks >= 1, 2 <= threads <= 1024, batches >= 0, 0 <= stages <= 8\n"), std::exit(2);
  return sizes;
}

__host__ __device__ inline Word rotate(Word v, int by) { return (v << by) | (v >> (32 - by)); }

__host__ __device__ inline float unit(Word v) { return float(v >> 8) * (1.0f / 16777216.0f); }  // exact, in [0, 1)

__host__ __device__ inline Word bits_of(float v) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(v);
#else
  Word bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
#endif
}

// Output word `i` of a tile. Explicit fmaf only: the same bits on every machine.
__host__ __device__ inline Word blend(const Word* tile, int size, int i, int batch) {
  const Word here = tile[i], left = tile[i ? i - 1 : size - 1], right = tile[i + 1 < size ? i + 1 : 0], mirror = tile[size - 1 - i];
  const Word word = (here ^ rotate(left, 9)) * 0x9E3779B1u + (rotate(right, 17) ^ (mirror * 0x85EBCA6Bu));
  float wave = fmaf(unit(left), 0.625f, unit(here));
  wave = fmaf(wave, unit(mirror), unit(right));
  wave = fmaf(-wave, 0.3125f, wave);
  return rotate(word, 13) ^ (bits_of(wave) + Word(batch) * 0xC2B2AE35u);
}

// First word of this block's tile of a batch.
__device__ inline size_t tile_start(int batch, int tile) { return (size_t(batch) * gridDim.x + blockIdx.x) * tile; }

inline uint64_t hash_words(const std::vector<Word>& words) {  // FNV-1a over the bytes
  uint64_t hash = 0xcbf29ce484222325ull;
  for (Word word : words)
    for (int k = 0; k < 4; ++k) hash = (hash ^ ((word >> (8 * k)) & 255)) * 0x100000001b3ull;
  return hash;
}

inline std::vector<Word> make_input(size_t count) {
  std::vector<Word> words(count);
  Word state = 0x2545F491u;
  for (Word& word : words) state ^= state << 13, state ^= state >> 17, state ^= state << 5, word = state;
  return words;
}

// The same work on the CPU.
inline std::vector<Word> reference(const std::vector<Word>& in, int batches, int blocks, int tile) {
  std::vector<Word> out(in.size());
  for (int batch = 0; batch < batches; ++batch)
    for (int block = 0; block < blocks; ++block) {
      const size_t start = (size_t(batch) * blocks + block) * tile;
      for (int i = 0; i < tile; ++i) out[start + i] = blend(in.data() + start, tile, i, batch);
    }
  return out;
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { must(cudaMalloc(&data_, (count ? count : 1) * sizeof(T)), "cudaMalloc"); }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    must(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* get() const { return data_; }
  void fill(int byte) { must(cudaMemset(data_, byte, count_ * sizeof(T)), "cudaMemset"); }
  std::vector<T> copy() const {
    std::vector<T> to(count_);
    must(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
    return to;
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

struct Case {
  const char* name;
  void (*kernel)(Job);
  int stages;
  int tile;             // words per block and batch
  size_t shared_words;  // dynamic shared memory
  void (*prepare)(std::vector<Word>& in, int tile) = nullptr;  // what the copies themselves change, for the CPU twin
};

// Runs one kernel on random words, compares with the CPU, prints one line. Returns whether it passed.
inline bool run_case(const Case& c, const Sizes& sizes) {
  const std::vector<Word> in = make_input(size_t(sizes.batches) * sizes.blocks * c.tile);
  const DeviceArray<Word> from(in);
  DeviceArray<Word> to(in.size());
  double ms = 0;
  // The first launch also loads the kernel: the second is timed.
  for (int round = 0; round < (sizes.times ? 2 : 1); ++round) {
    to.fill(0xA5);
    must(cudaDeviceSynchronize(), "before the launch");
    const auto start = std::chrono::steady_clock::now();
    c.kernel<<<sizes.blocks, sizes.threads, c.shared_words * sizeof(Word)>>>(Job{from.get(), to.get(), sizes.batches});
    must(cudaGetLastError(), c.name);
    must(cudaDeviceSynchronize(), c.name);
    ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  std::vector<Word> seen = in;
  if (c.prepare) c.prepare(seen, c.tile);
  const std::vector<Word> got = to.copy(), want = reference(seen, sizes.batches, sizes.blocks, c.tile);
  size_t bad = 0;
  while (bad < got.size() && got[bad] == want[bad]) ++bad;
  std::printf("%-28s stages %d  threads %4d  hash %016llx  %s", c.name, c.stages, sizes.threads,
              static_cast<unsigned long long>(hash_words(got)), bad == got.size() ? "PASS" : "FAIL");
  if (sizes.times) std::printf("  %8.3f ms", ms);
  std::printf("\n");
  if (bad < got.size()) std::printf("  first wrong word %zu: got %08x, expected %08x\n", bad, got[bad], want[bad]);
  return bad == got.size();
}

inline int verdict(bool passed) {
  std::printf("%s\n", passed ? "PASS" : "FAIL");
  return passed ? 0 : 1;
}

}  // namespace gallery
