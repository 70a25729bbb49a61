// SPDX-License-Identifier: Apache-2.0
// Kernel parameters: structs by value, mixed alignments, arrays indexed by data, addresses of parameters,
// more than 4 KB.
#include "program.h"
using namespace program;

struct Small { char c; double d; short s[3]; bool b; };
struct Nested { Small inner[2]; struct { float4 v; uint8_t tail; } more; const uint32_t* data; };
template <int kWords>
struct Table { uint32_t word[kWords]; };
struct Empty {};

__global__ void mixed(uint64_t* out, char a, Small s, short b, Nested n, Empty, uint8_t c, double d, bool e, int3 f, uint64_t g) {
  const int i = threadIdx.x;
  uint64_t v = a * 3 + int(s.d * 4) + s.s[i % 3] + s.b + b * 7 + n.inner[i & 1].c + int64_t(n.inner[i & 1].d * 2) + n.inner[1].s[(i + 1) % 3];
  v += int(n.more.v.x + n.more.v.y * 2 + n.more.v.z * 3 + n.more.v.w * 4) + n.more.tail + n.data[i] + c + int(d * 8) + e * 1000 + f.x + f.y * 10 + f.z * 100;
  out[i] = v * 31 + g;
}

template <int kWords>
__global__ void look_up(uint32_t* out, const __grid_constant__ Table<kWords> table, int salt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t* p = &table.word[(i * 7 + salt) % kWords];
  out[i] = *p + table.word[i % kWords] * 3;
}

__global__ void modify(uint32_t* out, Table<40> table) {  // parameters are variables of each thread
  const int i = threadIdx.x;
  for (int k = 0; k < 40; ++k) table.word[(k * i + 3) % 40] += i * k;
  uint32_t sum = 0;
  for (int k = 0; k < 40; ++k) sum = sum * 3 + table.word[k];
  out[i] = sum;
}

template <int kWords>
void check_table(const char* name) {
  static Table<kWords> table;
  for (int k = 0; k < kWords; ++k) table.word[k] = mix(k + kWords);
  const int n = 256;
  Device<uint32_t> out(n);
  look_up<kWords><<<4, 64>>>(out, table, 5);
  MUST_RUN();
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i) want[i] = table.word[(i * 7 + 5) % kWords] + table.word[i % kWords] * 3;
  expect_equal(name, out.copy(), want);
}

int main() {
  const int n = 64;
  const std::vector<uint32_t> data = random_words(n, 2);
  Device<uint32_t> device_data(data), words(n);
  Device<uint64_t> out(n);
  const Small s{'x', 2.25, {1, -2, 3}, true};
  const Nested nested{{{'y', 5.5, {10, 20, 30}, false}, {'z', -7.5, {-11, 22, -33}, true}}, {{1, 2, 3, 4}, 200}, device_data};
  mixed<<<1, n>>>(out, 'a', s, -9, nested, Empty{}, 250, 3.125, true, int3{1, 2, 3}, 0x123456789abcdefull);
  MUST_RUN();
  std::vector<uint64_t> want(n);
  for (int i = 0; i < n; ++i) {
    uint64_t v = 'a' * 3 + 9 + s.s[i % 3] + 1 + -63 + nested.inner[i & 1].c + int64_t(nested.inner[i & 1].d * 2) + nested.inner[1].s[(i + 1) % 3];
    v += 30 + 200 + data[i] + 250 + 25 + 1000 + 321;
    want[i] = v * 31 + 0x123456789abcdefull;
  }
  expect_equal("mixed parameters", out.copy(), want);
  check_table<17>("68 bytes");
  check_table<1000>("4000 bytes");
  check_table<8100>("32400 bytes");
  Table<40> table;
  for (int k = 0; k < 40; ++k) table.word[k] = mix(k);
  modify<<<1, n>>>(words, table);
  MUST_RUN();
  std::vector<uint32_t> sums(n);
  for (int i = 0; i < n; ++i) {
    Table<40> mine = table;
    for (int k = 0; k < 40; ++k) mine.word[(k * i + 3) % 40] += i * k;
    for (int k = 0; k < 40; ++k) sums[i] = sums[i] * 3 + mine.word[k];
  }
  expect_equal("modified in the kernel", words.copy(), sums);
  return finish();
}
