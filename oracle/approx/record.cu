// SPDX-License-Identifier: Apache-2.0
// Records what the approximate instructions give on this machine's GPU, which should be an H200.
//   nvcc -arch=sm_90a -std=c++17 -O2 -cudart static record.cu -o record && ./record OUT_DIR
//   hashes.bin   for each form below, in order, 65536 sums of 64 bits: block k sums mix() over the inputs k<<16 to
//                k<<16 | 65535
//   samples.bin  for each form, 512 x 128 results: inputs of each sign and exponent with mantissas of sample_mantissa()
//   half.bin     for each form on halves, the results of all 65536 inputs (16 bits each)
//   raw_*.bin    results of whole binades, 32 bits each
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using u32 = uint32_t;
using u64 = uint64_t;

__host__ __device__ inline u64 scramble(u64 t) {
  t *= 0x9e3779b97f4a7c15ull;
  t ^= t >> 32;
  t *= 0xd6e8feb86659fd93ull;
  return t ^ t >> 29;
}
// One result at one place of its block.
__host__ __device__ inline u64 mix(u32 result, u32 place) { return scramble((static_cast<u64>(place) << 32 | result) + 1); }
__host__ __device__ inline u32 sample_mantissa(u32 k) {
  const u32 fixed[8] = {0, 1, 2, 0x400000, 0x3fffff, 0x7ffffe, 0x7fffff, 0x3504f3};
  return k < 8 ? fixed[k] : static_cast<u32>(scramble(k) >> 41);
}

#define UNARY32(name, text)                                  \
  struct name {                                              \
    static __device__ u32 f(u32 x) {                         \
      u32 r;                                                 \
      asm volatile(text " %0, %1;" : "=r"(r) : "r"(x));      \
      return r;                                              \
    }                                                        \
  };
#define F32(name, text)                                                                          \
  struct name {                                                                                  \
    static __device__ u32 f(u32 x) {                                                             \
      float r;                                                                                   \
      asm volatile(text " %0, %1;" : "=f"(r) : "f"(__uint_as_float(x)));                         \
      return __float_as_uint(r);                                                                 \
    }                                                                                            \
  };
F32(ex2, "ex2.approx.f32") F32(ex2_ftz, "ex2.approx.ftz.f32") F32(lg2, "lg2.approx.f32") F32(lg2_ftz, "lg2.approx.ftz.f32")
F32(sin_, "sin.approx.f32") F32(sin_ftz, "sin.approx.ftz.f32") F32(cos_, "cos.approx.f32") F32(cos_ftz, "cos.approx.ftz.f32")
F32(tanh_, "tanh.approx.f32") F32(rcp_, "rcp.approx.f32") F32(rcp_ftz, "rcp.approx.ftz.f32")
F32(rsqrt_, "rsqrt.approx.f32") F32(rsqrt_ftz, "rsqrt.approx.ftz.f32")
F32(sqrt_, "sqrt.approx.f32") F32(sqrt_ftz, "sqrt.approx.ftz.f32")
// f64: the upper word of the result (the lower word is added into bit 0 if it is not zero)
#define F64(name, text, low)                                                                     \
  struct name {                                                                                  \
    static __device__ u32 f(u32 x) {                                                             \
      double r;                                                                                  \
      asm volatile(text " %0, %1;" : "=d"(r) : "d"(__hiloint2double(int(x), int(low))));         \
      return u32(__double2hiint(r)) ^ (__double2loint(r) ? 0xdead0000u ^ u32(__double2loint(r)) : 0);    \
    }                                                                                            \
  };
F64(rcp_f64, "rcp.approx.ftz.f64", 0) F64(rcp_f64_low, "rcp.approx.ftz.f64", 0xffffffffu)
F64(rsqrt_f64, "rsqrt.approx.ftz.f64", 0) F64(rsqrt_f64_low, "rsqrt.approx.ftz.f64", 0xffffffffu)
#define H16(name, text)                                                                          \
  struct name {                                                                                  \
    static __device__ u32 f(u32 x) {                                                             \
      unsigned short r;                                                                          \
      asm volatile(text " %0, %1;" : "=h"(r) : "h"((unsigned short)x));                          \
      return r;                                                                                  \
    }                                                                                            \
  };
H16(ex2_f16, "ex2.approx.f16") H16(tanh_f16, "tanh.approx.f16")
H16(ex2_bf16, "ex2.approx.ftz.bf16") H16(tanh_bf16, "tanh.approx.bf16")
UNARY32(ex2_f16x2, "ex2.approx.f16x2") UNARY32(tanh_f16x2, "tanh.approx.f16x2")
UNARY32(ex2_bf16x2, "ex2.approx.ftz.bf16x2") UNARY32(tanh_bf16x2, "tanh.approx.bf16x2")
// Two operands: made from the input by scrambling; the first 2^31 have any exponents, the rest near ones.
__host__ __device__ inline void operands(u32 i, u32& a, u32& b) {
  const u64 s = scramble(static_cast<u64>(i) + 0x123456789ull), t = scramble(s + i);
  a = static_cast<u32>(s >> 16);
  b = static_cast<u32>(t >> 16);
  if (i >> 31) {
    b = (b & 0x807fffffu) | ((((a >> 23 & 255) + (t & 63) - 32) & 255) << 23);
    if ((t >> 6 & 15) == 0) a &= 0xff800000u;
    if ((t >> 10 & 15) == 0) b &= 0xff800000u;
  }
}
#define DIV(name, text)                                                                          \
  struct name {                                                                                  \
    static __device__ u32 f(u32 i) {                                                             \
      u32 a, b;                                                                                  \
      operands(i, a, b);                                                                         \
      float r;                                                                                   \
      asm volatile(text " %0, %1, %2;" : "=f"(r) : "f"(__uint_as_float(a)), "f"(__uint_as_float(b))); \
      return __float_as_uint(r);                                                                 \
    }                                                                                            \
  };
DIV(div_approx, "div.approx.f32") DIV(div_approx_ftz, "div.approx.ftz.f32") DIV(div_full, "div.full.f32")
DIV(div_full_ftz, "div.full.ftz.f32")

template <class Op>
__global__ void block_sums(u64* sums) {
  __shared__ u64 total;
  if (!threadIdx.x) total = 0;
  __syncthreads();
  u64 s = 0;
  for (u32 k = threadIdx.x; k < 65536; k += blockDim.x) s += mix(Op::f(blockIdx.x << 16 | k), k);
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), s);
  __syncthreads();
  if (!threadIdx.x) sums[blockIdx.x] = total;
}
template <class Op>
__global__ void samples(u32* out) {
  out[blockIdx.x * 128 + threadIdx.x] = Op::f(blockIdx.x << 23 | sample_mantissa(threadIdx.x));
}
template <class Op>
__global__ void range(u32* out, u32 first) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Op::f(first + i);
}

static std::string folder;
static void* device;
static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  printf("%s\n", cudaGetErrorString(e));
  exit(1);
}
static void append(const std::string& name, size_t bytes) {
  check(cudaDeviceSynchronize());
  std::vector<char> host(bytes);
  check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  FILE* f = fopen((folder + "/" + name).c_str(), "ab");
  fwrite(host.data(), 1, bytes, f);
  fclose(f);
}
template <class Op>
void form(const char* name) {
  block_sums<Op><<<65536, 256>>>(static_cast<u64*>(device));
  append("hashes.bin", 65536 * 8);
  samples<Op><<<512, 128>>>(static_cast<u32*>(device));
  append("samples.bin", 512 * 128 * 4);
  printf("%s\n", name);
}
template <class Op>
void half(const char* name) {
  range<Op><<<256, 256>>>(static_cast<u32*>(device), 0);
  append(std::string("half_") + name + ".bin", 65536 * 4);
}
// A range of inputs with a step between binades.
template <class Op>
void raw(const char* name, std::initializer_list<u32> binades, u32 count = 1u << 23) {
  for (u32 first : binades) {
    range<Op><<<count / 256, 256>>>(static_cast<u32*>(device), first << 23);
    char file[64];
    snprintf(file, sizeof file, "raw_%s_%03x.bin", name, first);
    append(file, size_t{4} * count);
  }
}

int main(int, char** argv) {
  folder = argv[1];
  check(cudaMalloc(&device, 64 << 20));
#define FORM(n) form<n>(#n)
  FORM(ex2); FORM(ex2_ftz); FORM(lg2); FORM(lg2_ftz); FORM(sin_); FORM(sin_ftz); FORM(cos_); FORM(cos_ftz); FORM(tanh_);
  FORM(rcp_); FORM(rcp_ftz); FORM(rsqrt_); FORM(rsqrt_ftz); FORM(sqrt_); FORM(sqrt_ftz);
  FORM(rcp_f64); FORM(rcp_f64_low); FORM(rsqrt_f64); FORM(rsqrt_f64_low);
  FORM(ex2_f16x2); FORM(tanh_f16x2); FORM(ex2_bf16x2); FORM(tanh_bf16x2);
  FORM(div_approx); FORM(div_approx_ftz); FORM(div_full); FORM(div_full_ftz);
#define HALF(n) half<n>(#n)
  HALF(ex2_f16); HALF(tanh_f16); HALF(ex2_bf16); HALF(tanh_bf16);
  raw<rcp_ftz>("rcp", {127});
  raw<rsqrt_ftz>("rsqrt", {127, 128});
  raw<sqrt_ftz>("sqrt", {127, 128});
  raw<ex2_ftz>("ex2", {127, 256 + 127, 126, 256 + 126, 124, 128, 130, 256 + 132});
  raw<lg2_ftz>("lg2", {127, 126, 128, 125, 129, 140, 100});
  raw<sin_ftz>("sin", {128, 127, 129, 126, 122, 134});
  raw<cos_ftz>("cos", {128, 127, 129, 126, 122, 134});
  raw<tanh_>("tanh", {127, 126, 128, 125, 129, 124, 130, 123, 122, 121, 120, 118, 116, 114, 112});
  raw<rcp_f64>("rcp64", {0x3ff00000u >> 23, 0x3f800000u >> 23});
  raw<rsqrt_f64>("rsqrt64", {0x3ff00000u >> 23, 0x40000000u >> 23});
  return 0;
}
