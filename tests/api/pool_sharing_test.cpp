// SPDX-License-Identifier: Apache-2.0
// What processes and threads without a current context do with a shared pool, and pools in the host's memory. Clients
// need it: cuda.core imports pools while a new process unpickles its arguments, and exports memory in helper threads.
#include <cuda.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace {

struct Message {
  CUmemPoolPtrExportData memory, of_other_pool;
  int descriptor;
};

CUmemPoolProps shareable(CUmemLocationType where) {
  CUmemPoolProps p = {};
  p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  p.location.type = where;
  return p;
}

bool pass_descriptor(int socket, Message m) {
  iovec io{&m, sizeof m};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr h = {};
  h.msg_iov = &io, h.msg_iovlen = 1;
  h.msg_control = control, h.msg_controllen = sizeof control;
  cmsghdr* c = CMSG_FIRSTHDR(&h);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(c), &m.descriptor, sizeof(int));
  return sendmsg(socket, &h, 0) == sizeof m;
}
bool receive_descriptor(int socket, Message& m) {
  iovec io{&m, sizeof m};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr h = {};
  h.msg_iov = &io, h.msg_iovlen = 1;
  h.msg_control = control, h.msg_controllen = sizeof control;
  if (recvmsg(socket, &h, 0) != sizeof m || !CMSG_FIRSTHDR(&h)) return false;
  std::memcpy(&m.descriptor, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(int));
  return true;
}

// Copies of a kind do not take memory of a host's pool, which the host reads and writes itself.
CUresult read_int(CUdeviceptr p, CUmemorytype type, int& out) {
  if (type == CU_MEMORYTYPE_DEVICE) return cuMemcpyDtoH(&out, p, sizeof out);
  std::memcpy(&out, reinterpret_cast<void*>(p), sizeof out);
  return CUDA_SUCCESS;
}
CUresult write_int(CUdeviceptr p, CUmemorytype type, int value) {
  if (type == CU_MEMORYTYPE_DEVICE) return cuMemcpyHtoD(p, &value, sizeof value);
  std::memcpy(reinterpret_cast<void*>(p), &value, sizeof value);
  return CUDA_SUCCESS;
}

#define STEP(call) \
  if ((call) != CUDA_SUCCESS) return __LINE__ % 256

// The other process: no context before the memory is there. 0, or the line that went wrong.
int importer(int socket, CUmemorytype expected) {
  Message m;
  CUmemoryPool pool;
  CUdeviceptr p = 0;
  if (!receive_descriptor(socket, m)) return 1;
  STEP(cuInit(0));
  STEP(cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<intptr_t>(m.descriptor)),
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  STEP(cuMemPoolImportPointer(&p, pool, &m.memory));
  if (cuMemPoolImportPointer(&p, pool, &m.of_other_pool) != CUDA_ERROR_INVALID_VALUE) return 5;
  CUcontext current = nullptr, primary = nullptr;
  STEP(cuCtxGetCurrent(&current));
  if (current) return 2;
  STEP(cuDevicePrimaryCtxRetain(&primary, 0));
  STEP(cuCtxSetCurrent(primary));
  CUmemorytype type = {};
  STEP(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  if (type != expected) return 3;
  int seen = 0;
  STEP(read_int(p, expected, seen));
  if (seen != 42) return 4;
  STEP(write_int(p, expected, 43));
  STEP(cuMemFreeAsync(p, nullptr));
  STEP(cuCtxSynchronize());
  STEP(cuMemPoolDestroy(pool));
  return 0;
}

void share(CUmemLocationType where, CUmemorytype expected) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const pid_t child = fork();  // before CUDA is there
  if (child == 0) {
    close(ends[0]);
    _exit(importer(ends[1], expected));
  }
  close(ends[1]);

  CUcontext primary;
  CUmemoryPool pool, other;
  CUdeviceptr p = 0, q = 0;
  const CUmemPoolProps properties = shareable(where);
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolCreate(&other, &properties), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&p, 100, pool, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&q, 100, other, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  ASSERT_EQ(write_int(p, expected, 42), CUDA_SUCCESS);
  Message m = {};
  std::thread([&] {  // has no context
    EXPECT_EQ(cuMemPoolExportPointer(&m.memory, p), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolExportPointer(&m.of_other_pool, q), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolExportToShareableHandle(&m.descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              CUDA_SUCCESS);
  })
      .join();
  ASSERT_TRUE(pass_descriptor(ends[0], m));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  int value = 0;
  ASSERT_EQ(read_int(p, expected, value), CUDA_SUCCESS);
  EXPECT_EQ(value, 43);
  EXPECT_EQ(cuMemFreeAsync(p, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(q, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(other), CUDA_SUCCESS);
}

// Each in a process of its own: nobody may have initialised CUDA before the fork.
[[noreturn]] void alone(CUmemLocationType where, CUmemorytype expected) {
  share(where, expected);
  std::_Exit(testing::Test::HasFailure());
}

TEST(PoolSharing, OfTheDeviceWithoutContext) {
  EXPECT_EXIT(alone(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEMORYTYPE_DEVICE), testing::ExitedWithCode(0), "");
}
TEST(PoolSharing, OfTheHostWithoutContext) {
  EXPECT_EXIT(alone(CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEMORYTYPE_HOST), testing::ExitedWithCode(0), "");
}

}  // namespace
