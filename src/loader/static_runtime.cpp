// SPDX-License-Identifier: Apache-2.0
// nvcc links the runtime (libcudart_static.a) into what it makes, unless told otherwise. It is one object file; its
// inner functions are named libcudart_static_HASH, the public ones cudaMalloc and so on, hidden, so only the symbol
// table of the file knows them. Nothing in there runs before the object's constructors register its kernels
// (__cudaRegisterFatBinary).
//
// The first bytes of each public function that our runtime of that version has become a jump (jump.h) to our stub
// (entry_stubs.h), with the number of this runtime in the process (cuda/calling_runtime.h).
//
// A file without symbol table still has that object file in it, byte for byte but for the addresses: the archive that
// it was linked from, where there is one, tells where its functions are (base/runtime_archive.h).
//
// Other functions stay; nothing inside reaches a public function by another way than a call of it.
#include "loader/static_runtime.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "base/runtime_archive.h"
#include "cuda/calling_runtime.h"
#include "loader/code_pages.h"
#include "loader/entry_stubs.h"
#include "loader/jump.h"
#include "loader/object_file.h"

namespace us::loader {
namespace {

// The functions of the runtime in a file by the symbols of the file, which stand for themselves,
struct FromSymbols {
  const ObjectFile& file;
  template <class F>
  void each(F&& f) const {
    file.each_function(f);
  }
  Elf64_Addr place(const Elf64_Sym& s) const { return s.st_value; }
  bool has_room(const Elf64_Sym& s) const {
    return s.st_size >= kNumberedJumpBytes || file.alone(s, kNumberedJumpBytes);
  }
};
// or by those of the archive that begins at a place of the file.
struct FromArchive {
  const RuntimeArchive& archive;
  Elf64_Addr begin;
  template <class F>
  void each(F&& f) const {
    archive.each_function(f);
  }
  Elf64_Addr place(const Elf64_Sym& s) const { return begin + s.st_value; }
  bool has_room(const Elf64_Sym& s) const { return s.st_size >= kNumberedJumpBytes; }
};

// CUDA 13 has no cudaGetDeviceProperties_v2, CUDA 11 no such name yet and the texture references that CUDA 12 gave up.
template <class Functions>
bool find_version(const Functions& functions, RuntimeVersion& version) {
  bool twelve = false, eleven = false;
  functions.each([&](const char* name, const Elf64_Sym&) {
    twelve |= strcmp(name, "cudaGetDeviceProperties_v2") == 0;
    eleven |= strcmp(name, "cudaBindTexture") == 0;
  });
  version = twelve ? RuntimeVersion::Cuda12 : RuntimeVersion::Cuda13;
  return !eleven;
}

// f(place, stub) for each public function that ours has and whose first bytes may be written.
template <class Functions, class F>
void each_replaced(const Functions& functions, RuntimeVersion version, F&& f) {
  functions.each([&](const char* name, const Elf64_Sym& s) {
    if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0) return;
    const cuda::EntryFn stub = find_stub(version, name);
    if (stub && functions.has_room(s)) f(functions.place(s), stub);
  });
}

std::atomic<unsigned> next_runtime = cuda::kFirstStaticRuntime;

template <class Functions>
void replace(const link_map& object, const ObjectFile& file, const Functions& functions) {
  RuntimeVersion version;
  if (!file.matches(object) || !find_version(functions, version)) return;
  Elf64_Addr begin = ~Elf64_Addr{0}, end = 0;
  each_replaced(functions, version, [&](Elf64_Addr at, cuda::EntryFn) {
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
  const unsigned number = next_runtime++;
  each_replaced(functions, version,
                [&](Elf64_Addr at, cuda::EntryFn stub) { write_numbered_jump(code + (at - begin), number, stub); });
}

void replace_by_archive(const link_map& object, const ObjectFile& file, const char* path) {
  const auto variable = [](const char* name) {
    const char* const value = getenv(name);
    return value ? value : "";
  };
  const char* const toolkits[] = {variable("CUDA_HOME"), variable("CUDA_PATH"), "/usr/local/cuda", nullptr};
  each_runtime_archive(variable("UNDERSTUDY_STATIC_RUNTIME"), path, toolkits, [&](const char* candidate) {
    const RuntimeArchive archive(candidate);
    bool found = false;
    file.each_code([&](const unsigned char* code, size_t bytes, Elf64_Addr address) {
      const size_t place = archive.find_in(code, bytes);
      if (place == RuntimeArchive::kNowhere) return;
      found = true;
      replace(object, file, FromArchive{archive, address + place});
    });
    return found;
  });
}

}  // namespace

void send_static_runtime_to_ours(const link_map& object) {
  const char* const path = object.l_name[0] ? object.l_name : "/proc/self/exe";
  const ObjectFile file(path);
  if (file.names("libcudart_static_")) return replace(object, file, FromSymbols{file});
  if (!file.has_symbols() && file.registers_its_kernels()) replace_by_archive(object, file, path);
}

}  // namespace us::loader
