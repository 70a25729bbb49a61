// SPDX-License-Identifier: Apache-2.0
// Registers that nothing wrote hold an arbitrary value: as addresses they fault, elsewhere the kernel goes on. Each
// case runs in a process of its own.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

__global__ void load(unsigned* out) {
  unsigned v;
  asm volatile("{.reg .u64 a; ld.global.u32 %0, [a];}" : "=r"(v));
  *out = v;
}
__global__ void store() { asm volatile("{.reg .u64 a; st.global.u32 [a], 5;}"); }
__global__ void generic_store() { asm volatile("{.reg .u64 a; st.u32 [a], 5;}"); }
__global__ void atomic() { asm volatile("{.reg .u64 a; .reg .u32 o; atom.global.add.u32 o, [a], 5;}"); }
// Written on one of two ways; the lanes that took the other one use it.
__global__ void one_way(const unsigned* in, unsigned* out, int lanes) {
  unsigned v;
  asm volatile(
      "{.reg .u64 a; .reg .pred p;\nsetp.lt.s32 p, %1, %2;\n@!p bra J%=;\nmov.u64 a, %3;\nJ%=:\nld.global.u32 %0, [a];\n}"
      : "=r"(v)
      : "r"((int)threadIdx.x), "r"(lanes), "l"(in));
  out[threadIdx.x] = v;
}
__global__ void data(unsigned* out) {
  asm volatile("{.reg .u32 v; st.global.u32 [%0], v;}" ::"l"(out));
  out[1] = 7;
}
__global__ void divide(unsigned* out) {
  asm volatile("{.reg .u32 a; .reg .u32 b; div.u32 a, a, b; st.global.u32 [%0], a;}" ::"l"(out));
  out[1] = 7;
}
__global__ void decide(unsigned* out) {
  asm volatile("{.reg .pred p; @p st.global.u32 [%0], 1;}" ::"l"(out));
  out[1] = 7;
}

template <class F>
void run(const char* name, F f) {
  fflush(stdout);
  if (const pid_t id = fork()) {
    int status = 0;
    waitpid(id, &status, 0);
    if (status) printf("%s: status %d\n", name, status);
    return;
  }
  unsigned *in, *out, last[2] = {};
  cudaMalloc(&in, 256), cudaMalloc(&out, 256);
  cudaMemset(in, 0, 256), cudaMemset(out, 0, 256);
  f(in, out);
  const cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(last, out, 8, cudaMemcpyDeviceToHost);
  printf("%s: %s, %u\n", name, cudaGetErrorName(e), last[1]);
  fflush(stdout);
  _exit(0);
}

int main() {
  run("load", [](unsigned*, unsigned* out) { load<<<1, 32>>>(out); });
  run("store", [](unsigned*, unsigned*) { store<<<1, 32>>>(); });
  run("generic store", [](unsigned*, unsigned*) { generic_store<<<1, 32>>>(); });
  run("atomic", [](unsigned*, unsigned*) { atomic<<<1, 32>>>(); });
  run("written on the way of all lanes", [](unsigned* in, unsigned* out) { one_way<<<1, 32>>>(in, out, 32); });
  run("as data", [](unsigned*, unsigned* out) { data<<<1, 32>>>(out); });
  run("as divisor", [](unsigned*, unsigned* out) { divide<<<1, 32>>>(out); });
  run("as predicate", [](unsigned*, unsigned* out) { decide<<<1, 32>>>(out); });
  printf("PASS\n");
}
