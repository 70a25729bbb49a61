// SPDX-License-Identifier: Apache-2.0
// nvcuda::wmma: products of every shape and type, through shared and global memory, rows and columns,
// and what fragments hold.
#include <mma.h>

#include "program.h"
using namespace program;
using namespace nvcuda;

template <typename T>
struct Storage {
  using type = T;
};
template <>
struct Storage<wmma::precision::tf32> {
  using type = float;
};

template <int M, int N, int K, typename T, typename Acc, typename LA, typename LB>
__global__ void multiply(Acc* d, const typename Storage<T>::type* a, const typename Storage<T>::type* b, const Acc* c) {
  using S = typename Storage<T>::type;
  __shared__ alignas(32) S as[M * K], bs[K * N];
  constexpr bool row_a = std::is_same<LA, wmma::row_major>::value, row_b = std::is_same<LB, wmma::row_major>::value;
  for (int k = threadIdx.x; k < M * K; k += 32) as[k] = a[k];
  for (int k = threadIdx.x; k < N * K; k += 32) bs[k] = b[k];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Acc> fc;
  wmma::load_matrix_sync(fa, as, row_a ? K : M);
  wmma::load_matrix_sync(fb, bs, row_b ? N : K);
  wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
  wmma::store_matrix_sync(d + M * N, fc, M, wmma::mem_col_major);
}

template <int M, int N, int K, typename T, typename Acc, typename LA, typename LB>
void run(const char* name) {
  using S = typename Storage<T>::type;
  std::vector<uint32_t> r = random_words(4096, M * 100 + K);
  std::vector<S> a(M * K), b(K * N);
  std::vector<Acc> c(M * N);
  auto value = [&](size_t k) { return double(int(r[k] % 2001) - 1000) / (sizeof(S) == 1 ? 8 : 250); };
  for (size_t k = 0; k < a.size(); ++k) a[k] = S(float(value(k)));
  for (size_t k = 0; k < b.size(); ++k) b[k] = S(float(value(1024 + k)));
  for (size_t k = 0; k < c.size(); ++k) c[k] = Acc(float(value(2048 + k)));
  Device<S> da(a), db(b);
  Device<Acc> dc(c), dd(2 * M * N);
  multiply<M, N, K, T, Acc, LA, LB><<<1, 32>>>(dd, da, db, dc);
  MUST_RUN();
  show(name, dd.copy());
}

template <int M, int N, int K, typename T, typename Acc>
void run_layouts(const char* name) {
  using R = wmma::row_major;
  using C = wmma::col_major;
  std::printf("%s %dx%dx%d\n", name, M, N, K);
  run<M, N, K, T, Acc, R, R>("  row row");
  run<M, N, K, T, Acc, R, C>("  row col");
  run<M, N, K, T, Acc, C, R>("  col row");
  run<M, N, K, T, Acc, C, C>("  col col");
}
template <typename T, typename Acc>
void run_shapes(const char* name) {
  run_layouts<16, 16, 16, T, Acc>(name);
  run_layouts<8, 32, 16, T, Acc>(name);
  run_layouts<32, 8, 16, T, Acc>(name);
}

int main() {
  run_shapes<__half, float>("half, float");
  run_shapes<__half, __half>("half, half");
  run_shapes<__nv_bfloat16, float>("bfloat16, float");
  run_shapes<signed char, int>("s8, s32");
  run_shapes<unsigned char, int>("u8, s32");
  run_layouts<16, 16, 8, wmma::precision::tf32, float>("tf32, float");
  run_layouts<8, 8, 4, double, double>("double");
  return finish();
}
