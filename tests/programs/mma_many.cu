// SPDX-License-Identifier: Apache-2.0
// ours only: there is no recording; compares forty matrix instructions of a kind (one function) with a loop around one
// Every step multiplies other data and adds the results of the step before; some are NaNs and infinities.
#include "program.h"
using namespace program;

constexpr int kSteps = 40;

struct Doubles {
  using Word = double;
  static constexpr int a = 1, b = 1, d = 2;
  static __device__ void step(Word* x, const Word* y, Word* z) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(z[0]), "+d"(z[1]) : "d"(x[0]), "d"(y[0]));
  }
};
struct WideDoubles {
  using Word = double;
  static constexpr int a = 4, b = 2, d = 4;
  static __device__ void step(Word* x, const Word* y, Word* z) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(z[0]), "+d"(z[1]), "+d"(z[2]), "+d"(z[3])
        : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(y[0]), "d"(y[1]));
  }
};
#define FOUR_TWO_FOUR(NAME, KIND)                                                                                                  \
  struct NAME {                                                                                                                    \
    using Word = uint32_t;                                                                                                         \
    static constexpr int a = 4, b = 2, d = 4;                                                                                      \
    static __device__ void step(Word* x, const Word* y, Word* z) {                                                                 \
      asm("mma.sync.aligned." KIND " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                              \
          : "+r"(z[0]), "+r"(z[1]), "+r"(z[2]), "+r"(z[3])                                                                         \
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));                                                     \
    }                                                                                                                              \
  }
FOUR_TWO_FOUR(Bytes, "m16n8k32.row.col.s32.s8.s8.s32");

template <class Kind>
__device__ void load(typename Kind::Word* x, typename Kind::Word* y, const typename Kind::Word* in, int step) {
  for (int k = 0; k < Kind::a; ++k) x[k] = in[(step * 8 + k) * 32 + threadIdx.x];
  for (int k = 0; k < Kind::b; ++k) y[k] = in[(step * 8 + 4 + k) * 32 + threadIdx.x];
}
template <class Kind, int kUnroll>
__global__ void multiply(const typename Kind::Word* in, typename Kind::Word* out, int steps) {
  typename Kind::Word x[Kind::a], y[Kind::b], z[Kind::d] = {};
  if (kUnroll == 1) {
#pragma unroll 1
    for (int s = 0; s < steps; ++s) load<Kind>(x, y, in, s), Kind::step(x, y, z);
  } else {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) load<Kind>(x, y, in, s), Kind::step(x, y, z);
  }
  for (int k = 0; k < Kind::d; ++k) out[k * 32 + threadIdx.x] = z[k];
}

template <class Kind>
void compare(const char* name, const std::vector<typename Kind::Word>& data) {
  using Word = typename Kind::Word;
  Word *in, *out;
  MUST(cudaMalloc(&in, data.size() * sizeof(Word)));
  MUST(cudaMalloc(&out, Kind::d * 32 * sizeof(Word)));
  MUST(cudaMemcpy(in, data.data(), data.size() * sizeof(Word), cudaMemcpyHostToDevice));
  std::vector<Word> one(Kind::d * 32), many(one);
  multiply<Kind, 1><<<1, 32>>>(in, out, kSteps);
  MUST_RUN();
  MUST(cudaMemcpy(one.data(), out, one.size() * sizeof(Word), cudaMemcpyDeviceToHost));
  MUST(cudaMemset(out, 0, one.size() * sizeof(Word)));
  multiply<Kind, kSteps><<<1, 32>>>(in, out, kSteps);
  MUST_RUN();
  MUST(cudaMemcpy(many.data(), out, many.size() * sizeof(Word), cudaMemcpyDeviceToHost));
  expect_equal(name, many, one);
}

FOUR_TWO_FOUR(Tf32, "m16n8k8.row.col.f32.tf32.tf32.f32");
FOUR_TWO_FOUR(Halves, "m16n8k16.row.col.f32.f16.f16.f32");

int main() {
  uint64_t state = 1;
  auto random = [&] { return static_cast<uint32_t>((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 32); };
  std::vector<uint32_t> words(kSteps * 8 * 32), small(words), halves(words);
  std::vector<double> doubles(words.size()), odd;
  for (size_t k = 0; k < words.size(); ++k) {
    words[k] = random();
    small[k] = (random() & 0x807fffff) | (120 + random() % 16) << 23;
    halves[k] = (random() & 0x8fff8fff) | 0x30003000;
    doubles[k] = static_cast<int32_t>(random()) * 0x1p-20 + 0x1p-45 * random();
  }
  odd = doubles;
  for (int k : {700, 2000, 5003}) odd[k] = k == 2000 ? __builtin_inf() : __builtin_nan("");
  compare<Doubles>("f64 m8n8k4", doubles);
  compare<Doubles>("f64 m8n8k4, NaN", odd);
  compare<WideDoubles>("f64 m16n8k8", doubles);
  compare<WideDoubles>("f64 m16n8k8, NaN", odd);
  compare<Bytes>("s8 m16n8k32", words);
  compare<Tf32>("tf32 m16n8k8", small);
  compare<Tf32>("tf32 m16n8k8, any bits", words);
  compare<Halves>("f16 m16n8k16", halves);
  return finish();
}
