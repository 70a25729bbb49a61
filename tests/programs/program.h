// SPDX-License-Identifier: Apache-2.0
// What the whole-program tests share. A program prints one line per case and ends with PASS or FAIL; every line must be
// the same on every device and in every run.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace program {

inline const int line_buffered = std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed before a hang is seen

inline bool& all_passed() {
  static bool passed = true;
  return passed;
}

inline void must(cudaError_t error, const char* what, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s: %s\nFAIL\n", line, what, cudaGetErrorName(error));
  std::exit(1);
}
#define MUST(call) program::must(call, #call, __LINE__)
// After a launch: both the launch itself and the execution succeeded.
#define MUST_RUN() \
  (program::must(cudaGetLastError(), "launch", __LINE__), program::must(cudaDeviceSynchronize(), "execution", __LINE__))

inline uint64_t hash(const void* data, size_t bytes) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < bytes; ++i) h = (h ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
  return h;
}
template <typename T>
uint64_t hash(const std::vector<T>& v) {
  return hash(v.data(), v.size() * sizeof(T));
}

inline void expect(const char* name, bool ok) {
  std::printf("%-40s %s\n", name, ok ? "ok" : "WRONG");
  all_passed() &= ok;
}

// Compares bit by bit and prints the hash of what was got.
template <typename T>
void expect_equal(const char* name, const std::vector<T>& got, const std::vector<T>& want) {
  size_t bad = 0;
  while (bad < got.size() && bad < want.size() && !std::memcmp(&got[bad], &want[bad], sizeof(T))) ++bad;
  const bool ok = bad == got.size() && got.size() == want.size();
  std::printf("%-40s %016llx %s\n", name, static_cast<unsigned long long>(hash(got)), ok ? "ok" : "WRONG");
  if (!ok) std::printf("  first difference at element %zu of %zu\n", bad, want.size());
  all_passed() &= ok;
}

// No reference of its own: the recording from the real device is the judge.
template <typename T>
void show(const char* name, const std::vector<T>& got) {
  std::printf("%-40s %016llx\n", name, static_cast<unsigned long long>(hash(got)));
}

inline int finish() {
  std::printf("%s\n", all_passed() ? "PASS" : "FAIL");
  return all_passed() ? 0 : 1;
}

template <typename T>
class Device {
 public:
  explicit Device(size_t count, int fill = 0) : count_(count) {
    MUST(cudaMalloc(&data_, count * sizeof(T)));
    MUST(cudaMemset(data_, fill, count * sizeof(T)));
    MUST(cudaDeviceSynchronize());  // a stream that does not wait for the default one must find it filled
  }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    MUST(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Device(const Device&) = delete;
  ~Device() { cudaFree(data_); }
  operator T*() const { return data_; }
  size_t size() const { return count_; }
  std::vector<T> copy() const {
    std::vector<T> to(count_);
    MUST(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

__host__ __device__ inline uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 15)) * 0x2C1B3C6Du;
  x = (x ^ (x >> 12)) * 0x297A2D39u;
  return x ^ (x >> 15);
}

inline std::vector<uint32_t> random_words(size_t count, uint32_t seed = 1) {
  std::vector<uint32_t> v(count);
  for (size_t i = 0; i < count; ++i) v[i] = mix(uint32_t(i) * 2654435761u + seed);
  return v;
}

}  // namespace program
