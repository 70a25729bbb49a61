// SPDX-License-Identifier: Apache-2.0
// Handles of memory and events for another process: both write to one buffer, in the order that events give.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "api.h"

struct Message {
  cudaIpcMemHandle_t big, small;
  cudaIpcEventHandle_t ready;
};

__global__ void fill(int* p, int n, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = first + i;
}
__global__ void check_and_add(int* p, int n, int first, int add, int* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (p[i] != first + i) atomicAdd(wrong, 1);
  p[i] += add;
}

constexpr int kBig = 1 << 20, kSmall = 100;

static int child(int in, int out) {
  Message m;
  if (read(in, &m, sizeof m) != sizeof m) return 1;
  int *big = nullptr, *small = nullptr, *wrong;
  cudaEvent_t ready;
  MUST(cudaMalloc(&wrong, sizeof(int)));
  MUST(cudaMemset(wrong, 0, sizeof(int)));
  SHOW(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&big), m.big, cudaIpcMemLazyEnablePeerAccess));
  SHOW(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&small), m.small, cudaIpcMemLazyEnablePeerAccess));
  SHOW(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&small), m.small, 0));
  SHOW(cudaIpcOpenEventHandle(&ready, m.ready));
  cudaPointerAttributes a;
  SHOW(cudaPointerGetAttributes(&a, big));
  VALUE(a.type);
  SHOW(cudaStreamWaitEvent(nullptr, ready, 0));
  check_and_add<<<kBig / 256, 256>>>(big, kBig, 1000, 1, wrong);
  check_and_add<<<1, 128>>>(small, kSmall, 5, 1, wrong);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaEventQuery(ready));
  int n = -1;
  SHOW(cudaMemcpy(&n, wrong, sizeof n, cudaMemcpyDeviceToHost));
  VALUE(n);
  SHOW(cudaFree(big));
  SHOW(cudaIpcCloseMemHandle(big));
  SHOW(cudaIpcCloseMemHandle(big));
  SHOW(cudaIpcCloseMemHandle(small));
  SHOW(cudaIpcCloseMemHandle(wrong));
  SHOW(cudaEventDestroy(ready));
  std::fflush(stdout);
  return write(out, "x", 1) == 1 ? 0 : 1;
}

int main() {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return 1;
  const pid_t pid = fork();
  if (pid == 0) _exit(child(to[0], from[1]));

  Message m;
  int *big, *small, *neighbour;
  cudaEvent_t ready, plain;
  MUST(cudaMalloc(&big, kBig * sizeof(int)));
  MUST(cudaMalloc(&neighbour, kSmall * sizeof(int)));
  MUST(cudaMalloc(&small, kSmall * sizeof(int)));
  fill<<<1, 128>>>(neighbour, kSmall, 77);
  fill<<<1, 128>>>(small, kSmall, 5);
  cudaError_t codes[5];
  codes[0] = cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming);
  codes[1] = cudaEventCreateWithFlags(&plain, cudaEventInterprocess);
  codes[2] = cudaIpcGetMemHandle(&m.big, big);
  codes[3] = cudaIpcGetMemHandle(&m.small, small);
  codes[4] = cudaIpcGetEventHandle(&m.ready, ready);
  fill<<<kBig / 256, 256>>>(big, kBig, 1000);
  MUST(cudaEventRecord(ready));
  if (write(to[1], &m, sizeof m) != sizeof m) return 1;
  char done = 0;
  if (read(from[0], &done, 1) != 1) return 1;
  int status = -1;
  waitpid(pid, &status, 0);
  std::printf("the other process ended with %d\n", status);
  api::show("cudaEventCreateWithFlags, interprocess", codes[0]);
  api::show("cudaEventCreateWithFlags, interprocess with time", codes[1]);
  api::show("cudaIpcGetMemHandle", codes[2]);
  api::show("cudaIpcGetMemHandle", codes[3]);
  api::show("cudaIpcGetEventHandle", codes[4]);
  cudaGetLastError();

  int host[kSmall], last = 0;
  MUST(cudaMemcpy(&last, big + kBig - 1, sizeof last, cudaMemcpyDeviceToHost));
  VALUE(last);
  MUST(cudaMemcpy(host, small, sizeof host, cudaMemcpyDeviceToHost));
  VALUE(host[99]);
  MUST(cudaMemcpy(host, neighbour, sizeof host, cudaMemcpyDeviceToHost));
  VALUE(host[99]);
  void* mine = nullptr;
  int on_host = 0;
  SHOW(cudaIpcOpenMemHandle(&mine, m.big, cudaIpcMemLazyEnablePeerAccess));
  SHOW(cudaIpcGetMemHandle(&m.big, &on_host));
  std::memset(&m.big, 1, sizeof m.big);
  SHOW(cudaIpcOpenMemHandle(&mine, m.big, cudaIpcMemLazyEnablePeerAccess));
  MUST(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  SHOW(cudaIpcGetEventHandle(&m.ready, plain));
  SHOW(cudaFree(big));
  SHOW(cudaFree(small));
  SHOW(cudaFree(neighbour));
  return 0;
}
