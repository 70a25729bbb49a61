// SPDX-License-Identifier: Apache-2.0
// A memory pool that another process uses too: the pool as a descriptor, its allocations as bytes.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "api.h"

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

struct Message {
  cudaMemPoolPtrExportData big, small;
};

static bool send(int socket, int descriptor, const Message& m) {
  iovec io{const_cast<Message*>(&m), sizeof m};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr h = {};
  h.msg_iov = &io;
  h.msg_iovlen = 1;
  h.msg_control = control;
  h.msg_controllen = sizeof control;
  cmsghdr* c = CMSG_FIRSTHDR(&h);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
  return sendmsg(socket, &h, 0) == sizeof m;
}
static int receive(int socket, Message& m) {
  iovec io{&m, sizeof m};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr h = {};
  h.msg_iov = &io;
  h.msg_iovlen = 1;
  h.msg_control = control;
  h.msg_controllen = sizeof control;
  int descriptor = -1;
  if (recvmsg(socket, &h, 0) == sizeof m && CMSG_FIRSTHDR(&h))
    std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof descriptor);
  return descriptor;
}

static cudaMemPoolProps shareable() {
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  p.location.type = cudaMemLocationTypeDevice;
  return p;
}

static int child(int socket) {
  Message m;
  const int descriptor = receive(socket, m);
  if (descriptor < 0) return 1;
  cudaMemPool_t pool;
  int *wrong, *none = nullptr;
  void *big = nullptr, *small = nullptr;
  MUST(cudaMalloc(&wrong, sizeof(int)));
  MUST(cudaMemset(wrong, 0, sizeof(int)));
  SHOW(cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)), cudaMemHandleTypePosixFileDescriptor, 0));
  SHOW(cudaMemPoolImportPointer(&big, pool, &m.big));
  SHOW(cudaMemPoolImportPointer(&small, pool, &m.small));
  cudaPointerAttributes a;
  SHOW(cudaPointerGetAttributes(&a, big));
  VALUE(a.type);
  check_and_add<<<kBig / 256, 256>>>(static_cast<int*>(big), kBig, 1000, 1, wrong);
  check_and_add<<<1, 128>>>(static_cast<int*>(small), kSmall, 5, 1, wrong);
  SHOW(cudaDeviceSynchronize());
  int n = -1;
  SHOW(cudaMemcpy(&n, wrong, sizeof n, cudaMemcpyDeviceToHost));
  VALUE(n);
  SHOW(cudaMallocFromPoolAsync(&none, 256, pool, nullptr));
  SHOW(cudaDeviceSetMemPool(0, pool));
  SHOW(cudaMemPoolExportPointer(&m.big, big));
  SHOW(cudaFreeAsync(big, nullptr));
  SHOW(cudaFree(small));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemPoolDestroy(pool));
  std::fflush(stdout);
  return write(socket, "x", 1) == 1 ? 0 : 1;
}

int main() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t pid = fork();
  if (pid == 0) _exit(child(ends[1]));

  cudaMemPool_t pool, plain;
  cudaMemPoolProps props = shareable();
  int *big, *small, *other, descriptor = -1;
  Message m = {};
  cudaError_t codes[12];
  int k = 0;
  codes[k++] = cudaMemPoolCreate(&pool, &props);
  codes[k++] = cudaMallocFromPoolAsync(&big, kBig * sizeof(int), pool, nullptr);
  codes[k++] = cudaMallocFromPoolAsync(&small, kSmall * sizeof(int), pool, nullptr);
  fill<<<kBig / 256, 256>>>(big, kBig, 1000);
  fill<<<1, 128>>>(small, kSmall, 5);
  codes[k++] = cudaDeviceSynchronize();
  codes[k++] = cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0);
  codes[k++] = cudaMemPoolExportPointer(&m.big, big);
  codes[k++] = cudaMemPoolExportPointer(&m.small, small);
  if (!send(ends[0], descriptor, m)) return 1;
  char done = 0;
  if (read(ends[0], &done, 1) != 1) return 1;
  int status = -1;
  waitpid(pid, &status, 0);
  std::printf("the other process ended with %d\n", status);
  for (int i = 0; i < k; ++i) api::show("in the first process", codes[i]);

  int host[kSmall], last = 0;
  MUST(cudaMemcpy(&last, big + kBig - 1, sizeof last, cudaMemcpyDeviceToHost));
  VALUE(last);
  MUST(cudaMemcpy(host, small, sizeof host, cudaMemcpyDeviceToHost));
  VALUE(host[99]);
  SHOW(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypeNone, 0));
  SHOW(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 1));
  SHOW(cudaDeviceGetDefaultMemPool(&plain, 0));
  SHOW(cudaMemPoolExportToShareableHandle(&descriptor, plain, cudaMemHandleTypePosixFileDescriptor, 0));
  SHOW(cudaMallocAsync(&other, 64, nullptr));
  SHOW(cudaMemPoolExportPointer(&m.big, other));
  SHOW(cudaMemPoolExportPointer(&m.big, host));
  SHOW(cudaMemPoolImportPointer(reinterpret_cast<void**>(&other), pool, &m.small));
  SHOW(cudaFreeAsync(big, nullptr));
  SHOW(cudaFreeAsync(small, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemPoolDestroy(pool));
  return 0;
}
