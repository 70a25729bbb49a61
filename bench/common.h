// SPDX-License-Identifier: Apache-2.0
// What the native, the OpenCL and the CUDA version of a bench kernel share: inputs, reference checks and the timing
// loop. Each kernels/<name>/problem.h defines `Problem` on top of it; kernels/<name>/size.h holds the sizes, which all
// three versions see.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace bench {

// Plain memory, aligned to 2 MB and in huge pages where the host's kernel grants them, so that no version pays more TLB
// misses than another.
inline char* allocate(size_t bytes) {
  constexpr size_t kHuge = size_t{2} << 20;
  void* memory = std::aligned_alloc(kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
  if (!memory) {
    std::fprintf(stderr, "bench: out of memory (%zu bytes)\n", bytes);
    std::exit(1);
  }
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<char*>(memory);
}

// Calls body(begin, end) on slices of [0, count), one per core. For inputs and checks only, never timed.
template <class Body>
void parallel_for(size_t count, const Body& body) {
  const size_t workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t w = 0; w < workers; ++w)
    threads.emplace_back([&, w] { body(count * w / workers, count * (w + 1) / workers); });
  for (auto& thread : threads) thread.join();
}

// The same pseudo-random words in every version: a hash of seed and index.
inline uint32_t random_word(uint32_t seed, size_t index) {
  uint64_t z = (uint64_t{seed} << 40) + index * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 31)) * 0xD6E8FEB86659FD93ull;
  return static_cast<uint32_t>((z ^ (z >> 32)) >> 16);
}
inline float random_float(uint32_t seed, size_t index, float low, float high) {
  return low + (high - low) * static_cast<float>(random_word(seed, index) >> 8) * 0x1p-24f;
}

template <class T>
T* make_array(size_t count) {
  return reinterpret_cast<T*>(allocate(count * sizeof(T)));
}
inline float* random_floats(size_t count, uint32_t seed, float low, float high) {
  float* data = make_array<float>(count);
  parallel_for(count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) data[i] = random_float(seed, i, low, high);
  });
  return data;
}
inline uint32_t* random_words(size_t count, uint32_t seed) {
  uint32_t* data = make_array<uint32_t>(count);
  parallel_for(count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) data[i] = random_word(seed, i);
  });
  return data;
}

// In: read only. InOut: restored to `initial` before every run.
// Out: filled with a poison pattern before the checked run.
enum class Role { In, InOut, Out };
struct Buffer {
  Role role;
  size_t bytes;
  const void* initial = nullptr;
};
// Trailing kernel arguments, after the buffers.
struct Scalar {
  size_t bytes = 0;
  char value[8] = {};
  template <class T>
  Scalar(T v) : bytes(sizeof v) { std::memcpy(value, &v, sizeof v); }
};
struct Launch {
  unsigned grid[3];
  unsigned block[3];
};

[[noreturn]] inline void mismatch(const char* what, size_t index, double expected, double got) {
  std::fprintf(stderr, "bench: WRONG RESULT: %s[%zu]: expected %.9g, got %.9g\n", what, index, expected, got);
  std::_Exit(3);
}
inline void expect_near(const char* what, size_t index, double expected, double got, double relative, double absolute) {
  if (!(std::fabs(got - expected) <= absolute + relative * std::fabs(expected))) mismatch(what, index, expected, got);
}
inline void expect_equal(const char* what, size_t index, double expected, double got) {
  if (!(got == expected)) mismatch(what, index, expected, got);
}

inline double milliseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

// `Device` has: build() once before the first launch; upload(i, data); download(i, data); launch(), which returns when
// the kernel has finished. Prints one JSON line.
template <class Problem, class Device>
int run_bench(const char* version, Device& device, int argc, char** argv) {
  const int reps = argc > 1 ? std::atoi(argv[1]) : 3;
  Problem problem;
  const std::vector<Buffer> buffers = problem.buffers();
  const auto restore = [&] {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].role == Role::InOut) device.upload(i, buffers[i].initial);
  };
  device.create(buffers, problem.scalars());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].role == Role::In) device.upload(i, buffers[i].initial);

  restore();
  const double start = milliseconds(CLOCK_MONOTONIC);
  device.build();
  device.launch(problem.launch());
  const double first = milliseconds(CLOCK_MONOTONIC) - start;
  restore();
  device.launch(problem.launch());

  std::vector<double> wall, cpu;
  for (int rep = 0; rep < reps; ++rep) {
    restore();
    if (rep == reps - 1)
      for (size_t i = 0; i < buffers.size(); ++i)
        if (buffers[i].role == Role::Out) {
          const std::vector<char> poison(buffers[i].bytes, '\xcd');
          device.upload(i, poison.data());
        }
    const double wall0 = milliseconds(CLOCK_MONOTONIC), cpu0 = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    device.launch(problem.launch());
    wall.push_back(milliseconds(CLOCK_MONOTONIC) - wall0);
    cpu.push_back(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu0);
  }

  std::vector<const void*> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role == Role::In) {
      results.push_back(buffers[i].initial);
      continue;
    }
    char* copy = allocate(buffers[i].bytes);
    device.download(i, copy);
    results.push_back(copy);
  }
  problem.check(results);

  const auto list = [](const std::vector<double>& values) {
    std::string text;
    for (double v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
    return "[" + text + "]";
  };
  std::printf("{\"version\": \"%s\", \"kernel\": \"%s\", \"first_ms\": %f, \"wall_ms\": %s, \"cpu_ms\": %s}\n", version,
              Problem::name(), first, list(wall).c_str(), list(cpu).c_str());
  std::fflush(stdout);
  return 0;
}

}  // namespace bench
