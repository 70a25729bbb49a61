// SPDX-License-Identifier: Apache-2.0
// nvcc links the runtime (libcudart_static.a) into what it makes, unless told otherwise. It is one object file; its
// inner functions are named libcudart_static_HASH, the public ones cudaMalloc and so on, hidden, so only the symbol
// table of the file knows them. Nothing in there runs before the object's constructors register its kernels
// (__cudaRegisterFatBinary).
//
// The first bytes of each public function that our runtime of that version has become a jump (jump.h) to our stub
// (entry_stubs.h), with the number of this runtime in the process (cuda/calling_runtime.h).
//
// Other functions stay; nothing inside reaches a public function by another way than a call of it.
#include "loader/static_runtime.h"

#include <string.h>

#include <atomic>

#include "cuda/calling_runtime.h"
#include "loader/code_pages.h"
#include "loader/entry_stubs.h"
#include "loader/jump.h"
#include "loader/object_file.h"

namespace us::loader {
namespace {

// CUDA 13 has no cudaGetDeviceProperties_v2, CUDA 11 no such name yet and the texture references that CUDA 12 gave up.
bool find_version(const ObjectFile& file, RuntimeVersion& version) {
  bool twelve = false, eleven = false;
  file.each_function([&](const char* name, const Elf64_Sym&) {
    twelve |= strcmp(name, "cudaGetDeviceProperties_v2") == 0;
    eleven |= strcmp(name, "cudaBindTexture") == 0;
  });
  version = twelve ? RuntimeVersion::Cuda12 : RuntimeVersion::Cuda13;
  return !eleven;
}

// f(function, stub) for each public function that ours has and whose first bytes may be written.
template <class F>
void each_replaced(const ObjectFile& file, RuntimeVersion version, F&& f) {
  file.each_function([&](const char* name, const Elf64_Sym& s) {
    if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0) return;
    const cuda::EntryFn stub = find_stub(version, name);
    if (stub && (s.st_size >= kNumberedJumpBytes || file.alone(s, kNumberedJumpBytes))) f(s.st_value, stub);
  });
}

}  // namespace

void send_static_runtime_to_ours(const link_map& object) {
  const ObjectFile file(object.l_name[0] ? object.l_name : "/proc/self/exe");
  RuntimeVersion version;
  if (!file.names("libcudart_static_") || !file.matches(object) || !find_version(file, version)) return;
  Elf64_Addr begin = ~Elf64_Addr{0}, end = 0;
  each_replaced(file, version, [&](Elf64_Addr at, cuda::EntryFn) {
    if (at < begin) begin = at;
    if (at + kNumberedJumpBytes > end) end = at + kNumberedJumpBytes;
  });
  if (begin >= end) return;
  int protection = 0;
  auto* const code = reinterpret_cast<unsigned char*>(object.l_addr + begin);
  const unsigned char* expected = file.code(begin, end - begin, protection);
  if (!expected || memcmp(code, expected, end - begin) != 0) return;
  const WritableCode pages(code, end - begin, protection);
  if (!pages) return;
  static std::atomic<unsigned> next = cuda::kFirstStaticRuntime;
  const unsigned number = next++;
  each_replaced(file, version,
                [&](Elf64_Addr at, cuda::EntryFn stub) { write_numbered_jump(code + (at - begin), number, stub); });
}

}  // namespace us::loader
