// SPDX-License-Identifier: Apache-2.0
// The toolkit's own device-wide algorithms: reduction, scan, radix sort, selection, run lengths.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>

#include "program.h"
using namespace program;

template <typename F>
void with_scratch(F f) {
  size_t bytes = 0;
  MUST(f(nullptr, bytes));
  Device<char> scratch(bytes + 1);
  MUST(f(static_cast<char*>(scratch), bytes));
  MUST_RUN();
}

int main() {
  const int n = 50021;
  const std::vector<uint32_t> in = random_words(n, 70);
  Device<uint32_t> from(in), out(n), counts(n), number(1);
  uint32_t *i = from, *o = out, *c = counts, *k = number;

  with_scratch([&](void* s, size_t& bytes) { return cub::DeviceReduce::Sum(s, bytes, i, o, n); });
  expect_equal("sum", std::vector<uint32_t>{out.copy()[0]}, {std::accumulate(in.begin(), in.end(), 0u)});
  with_scratch([&](void* s, size_t& bytes) { return cub::DeviceReduce::Max(s, bytes, i, o, n); });
  expect_equal("maximum", std::vector<uint32_t>{out.copy()[0]}, {*std::max_element(in.begin(), in.end())});

  std::vector<uint32_t> want(n);
  with_scratch([&](void* s, size_t& bytes) { return cub::DeviceScan::InclusiveSum(s, bytes, i, o, n); });
  std::partial_sum(in.begin(), in.end(), want.begin());
  expect_equal("inclusive sum", out.copy(), want);

  with_scratch([&](void* s, size_t& bytes) { return cub::DeviceRadixSort::SortKeys(s, bytes, i, o, n); });
  want = in;
  std::sort(want.begin(), want.end());
  expect_equal("radix sort", out.copy(), want);

  std::vector<uint32_t> runs(n);
  for (int j = 0; j < n; ++j) runs[j] = in[j / 5] % 3;
  Device<uint32_t> repeated(runs);
  uint32_t* r = repeated;
  with_scratch([&](void* s, size_t& bytes) { return cub::DeviceRunLengthEncode::Encode(s, bytes, r, o, c, k, n); });
  std::vector<uint32_t> values, lengths, got_values = out.copy(), got_lengths = counts.copy();
  for (int j = 0; j < n; ++j) {
    if (j == 0 || runs[j] != runs[j - 1]) values.push_back(runs[j]), lengths.push_back(0);
    ++lengths.back();
  }
  expect("number of runs", number.copy()[0] == values.size());
  got_values.resize(values.size()), got_lengths.resize(values.size());
  expect_equal("values of runs", got_values, values);
  expect_equal("lengths of runs", got_lengths, lengths);
  return finish();
}
