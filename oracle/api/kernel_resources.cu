// SPDX-License-Identifier: Apache-2.0
// What a device reports about kernels: attributes, blocks per multiprocessor, what launches of too large blocks return.
//   nvcc -std=c++17 -arch=sm_90 -cudart shared -lcuda kernel_resources.cu
// Its output on an H100 (nvcc 13.0) is kernel_resources.tsv; compiled to PTX only and translated by the driver, the
// program printed the same there. Rows:
//   kernel NAME registers local shared const max-threads ptx binary cacheModeCA max-dynamic
//   blocks THREADS DYNAMIC BLOCKS error
//   launch THREADS error error-of-synchronize
//   cooperative GRID error (64 threads)
//   potential GRID BLOCK error
//   available BLOCKS BYTES error (128 threads)
//   driver registers local shared const max-threads
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
template <int N> __device__ void work(const float* in, float* out) {
  volatile const float* v = in;
  float x[N];
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = v[i * 32];
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = x[i] * x[(i * 7 + 3) % N] + 1;
  volatile float* o = out;
#pragma unroll
  for (int i = 0; i < N; ++i) o[(N - 1 - i) * 32] = x[i];
}
template <int N> __global__ void regs(const float* in, float* out) { work<N>(in, out); }
template <int N, int T> __global__ void __launch_bounds__(T) bounded(const float* in, float* out) { work<N>(in, out); }
template <int N, int T, int B> __global__ void __launch_bounds__(T, B) bounded2(const float* in, float* out) { work<N>(in, out); }
template <int N, int R> __global__ void __maxnreg__(R) capped(const float* in, float* out) { work<N>(in, out); }
template <int N, int S> __global__ void shared(const float* in, float* out) {
  __shared__ volatile char s[S];
  s[threadIdx.x % S] = (char)in[0];
  __syncthreads();
  work<N>(in, out);
  out[1] = s[(threadIdx.x + 1) % S];
}
__constant__ float table[1000];
__constant__ char bytes[3];
template <int N> __global__ void constant(const float* in, float* out) { work<N>(in, out); out[0] = table[(int)in[0]] + bytes[(int)in[1]]; }
template <int N> __global__ void local(const float* in, float* out) {
  float a[N];
  for (int i = 0; i < (int)in[1]; i++) a[(int)in[i]] = i;
  out[0] = a[(int)in[3]];
}
__device__ __noinline__ int fib(int n) { int a[10]; a[n % 10] = n; return n < 2 ? a[n] : fib(n - 1) + fib(n - 2) + a[n * 3 % 10]; }
__global__ void recursive(const float* in, float* out) { out[0] = fib((int)in[0]); }
__device__ __noinline__ int deep(int n, const float* in) { int a[100]; for (int i = 0; i < n; i++) a[(int)in[i]] = i; return a[(int)in[n]]; }
__global__ void calls(const float* in, float* out) { out[0] = deep((int)in[0], in); }
__global__ void prints(const float* in, float* out) { if (in[0] > 3) printf("%f\n", in[1]); out[0] = 1; }
__global__ void empty(const float*, float*) {}
// Not asked about; but beside it static shared memory is rounded up to 16 bytes.
extern __shared__ int dynamic[];
__global__ void dyn(const float* in, float* out) { dynamic[threadIdx.x] = (int)in[0]; __syncthreads(); out[0] = dynamic[threadIdx.x ^ 1]; }
typedef void (*K)(const float*, float*);
float* mem;
void one(const char* name, K k) {
  cudaFuncAttributes a;
  cudaError_t e = cudaFuncGetAttributes(&a, (const void*)k);
  if (e) { printf("kernel\t%s\terror %d\n", name, e); cudaGetLastError(); return; }
  printf("kernel\t%s\t%d\t%zu\t%zu\t%zu\t%d\t%d\t%d\t%d\t%d\n", name, a.numRegs, a.localSizeBytes, a.sharedSizeBytes, a.constSizeBytes, a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion, a.cacheModeCA, a.maxDynamicSharedSizeBytes);
  cudaFuncSetAttribute((const void*)k, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - (int)a.sharedSizeBytes);
  for (size_t d : {0, 1000, 20000, 60000, 110000})
    for (int t : {1, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 640, 704, 768, 800, 832, 896, 992, 1024}) {
      if (d && t != 32 && t != 128 && t != 256 && t != 512) continue;
      int b = -1;
      e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, k, t, d);
      printf("blocks\t%d\t%zu\t%d\t%d\n", t, d, b, e);
    }
  cudaGetLastError();
  for (int t : {32, 256, 288, 320, 384, 416, 512, 544, 640, 768, 1024}) {
    k<<<2, t, 2048>>>(mem, mem);
    e = cudaGetLastError();
    cudaError_t e2 = cudaDeviceSynchronize();
    printf("launch\t%d\t%d\t%d\n", t, e, e2);
  }
  void* args[] = {&mem, &mem};
  for (int g : {132, 264, 265, 396, 528, 529, 660, 1056, 1057, 2112, 2113, 4224, 4225}) {
    e = cudaLaunchCooperativeKernel((const void*)k, g, 64, args, 0, 0);
    printf("cooperative\t%d\t%d\n", g, e);
    cudaGetLastError();
  }
  cudaDeviceSynchronize();
  int grid = 0, block = 0;
  e = cudaOccupancyMaxPotentialBlockSize(&grid, &block, k, 0, 0);
  printf("potential\t%d\t%d\t%d\n", grid, block, e);
  for (int n : {1, 2, 4, 8}) {
    size_t av = 0;
    e = cudaOccupancyAvailableDynamicSMemPerBlock(&av, k, n, 128);
    printf("available\t%d\t%zu\t%d\n", n, av, e);
  }
  cudaGetLastError();
  CUfunction f;
  int m = 0, l = 0, c = 0, s = 0, r = 0;
  if (cudaGetFuncBySymbol(&f, (const void*)k) == cudaSuccess) {
    cuFuncGetAttribute(&m, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    cuFuncGetAttribute(&l, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
    cuFuncGetAttribute(&c, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, f);
    cuFuncGetAttribute(&s, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
    cuFuncGetAttribute(&r, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
    printf("driver\t%d\t%d\t%d\t%d\t%d\n", r, l, s, c, m);
  }
}
#define ONE(...) one(#__VA_ARGS__, __VA_ARGS__)
int main() {
  if (cudaMalloc(&mem, 1 << 20) || cudaMemset(mem, 0, 1 << 20)) return 1;
  int v = 0, w = 0;
  cudaDriverGetVersion(&v);
  cudaRuntimeGetVersion(&w);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("# %s, driver %d, runtime %d\n", p.name, v, w);
  ONE(empty);
  ONE(regs<4>); ONE(regs<16>); ONE(regs<24>); ONE(regs<32>); ONE(regs<40>); ONE(regs<48>); ONE(regs<56>); ONE(regs<64>); ONE(regs<72>); ONE(regs<88>);
  ONE(regs<100>); ONE(regs<112>); ONE(regs<120>); ONE(regs<136>); ONE(regs<150>); ONE(regs<160>); ONE(regs<180>); ONE(regs<200>); ONE(regs<230>); ONE(regs<300>);
  ONE(bounded<200, 512>); ONE(bounded<100, 100>); ONE(bounded<200, 288>); ONE(bounded<200, 1024>); ONE(bounded2<60, 256, 6>);
  ONE(capped<100, 40>); ONE(capped<20, 200>);
  ONE(shared<16, 1>); ONE(shared<16, 1000>); ONE(shared<60, 5000>); ONE(shared<16, 20001>); ONE(shared<40, 49152>);
  ONE(constant<16>); ONE(constant<90>);
  ONE(local<10>); ONE(local<1000>); ONE(recursive); ONE(calls); ONE(prints);
}
