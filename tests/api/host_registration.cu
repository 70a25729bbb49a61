// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Which memory of the process can be registered: ranges that wrap, are not mapped, may not be read or written; flags.
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "cu.h"

namespace {
constexpr size_t kPage = 4096;
char* map(size_t bytes, int rights) {
  return static_cast<char*>(mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
void try_it(const char* what, void* p, size_t bytes, unsigned flags) {
  const cudaError_t e = api::show(what, cudaHostRegister(p, bytes, flags));
  if (e == cudaSuccess) SHOW(cudaHostUnregister(p));
  cudaGetLastError();
}
}  // namespace

int main() {
  MUST(cudaFree(nullptr));
  char* p = map(8 * kPage, PROT_READ | PROT_WRITE);
  try_it("eight pages", p, 8 * kPage, 0);
  try_it("to the end of the address space and around", p, SIZE_MAX, 0);
  try_it("around, by a page", p, SIZE_MAX - reinterpret_cast<uintptr_t>(p) + kPage + 1, 0);
  try_it("half of the address space", p, SIZE_MAX / 2, 0);
  try_it("bytes within a page", p + 8, 100, 0);
  MUST(cudaGetLastError());
  munmap(p + 4 * kPage, 4 * kPage);
  mmap(p + 4 * kPage, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  try_it("the second half without rights", p, 8 * kPage, 0);
  try_it("without rights", p + 4 * kPage, 4 * kPage, 0);
  munmap(p + 4 * kPage, 4 * kPage);
  try_it("the second half not mapped", p, 8 * kPage, 0);
  try_it("not mapped", p + 4 * kPage, kPage, 0);
  try_it("one byte too many", p, 4 * kPage + 1, 0);
  try_it("what is mapped", p, 4 * kPage, 0);
  char* constant = map(kPage, PROT_READ);
  try_it("read-only", constant, kPage, cudaHostRegisterDefault);
  for (const unsigned flags : {1u, 2u, 3u, 16u, 32u, 0x80000000u}) {
    std::printf("flags %x\n", flags);
    try_it("register", p, kPage, flags);
  }
  CU(cuMemHostRegister(p, SIZE_MAX, 0));
  CU(cuMemHostRegister(p + 4 * kPage, kPage, 0));
  CU(cuMemHostRegister(p, kPage, 0));
  CU(cuMemHostUnregister(p));
  CU(cuMemHostRegister(p, kPage, 64));
  return 0;
}
