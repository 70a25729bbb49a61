// SPDX-License-Identifier: Apache-2.0
#include "loader/entry_stubs.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cuda/calling_runtime.h"
#include "loader/libraries.h"

// Runtime rows of both versions, as R(name).
#define US_ENTRY(name, level, note) R(name)
#define US_SAME(name) R(name)
#define US_AS(name, other) R(name)
#define US_OWN(name) R(name)

US_SLOT_ARRAY(us_slot12_);
US_SLOT_ARRAY(us_slot13_);
#define R(name)                              \
  US_LAZY_SLOT("us_slot12_", "us12_" #name); \
  extern "C" __attribute__((visibility("hidden"))) void us12_##name();
#include "cuda/libcudart12/entry_points.inc"
#undef R
#define R(name)                              \
  US_LAZY_SLOT("us_slot13_", "us13_" #name); \
  extern "C" __attribute__((visibility("hidden"))) void us13_##name();
#include "cuda/libcudart/entry_points.inc"
#undef R

extern "C" __attribute__((visibility("hidden"))) void us_fill12();
extern "C" __attribute__((visibility("hidden"))) void us_fill13();
US_LAZY_FILL("us_slot12_", "us_fill12");
US_LAZY_FILL("us_slot13_", "us_fill13");

namespace us::loader {
namespace {

struct Stub {
  const char* name;
  cuda::EntryFn code;
};
constexpr Stub stubs12[] = {
#define R(name) {#name, &us12_##name},
#include "cuda/libcudart12/entry_points.inc"
#undef R
};
constexpr Stub stubs13[] = {
#define R(name) {#name, &us13_##name},
#include "cuda/libcudart/entry_points.inc"
#undef R
};

void say(const char* text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

[[noreturn]] void give_up(const char* library) {
  say("understudy: ");
  say(library);
  say(" cannot be loaded for the CUDA runtime in this program: ");
  const char* why = dlerror();
  say(why ? why : "a function is missing");
  say("\n");
  _exit(127);
}

// Threads that come here at once write the same values.
template <size_t N>
void fill(const char* library, const Stub (&stubs)[N], cuda::EntryFn* slots) {
  char path[PATH_MAX];
  strcat(strcat(strcpy(path, own_directory()), "/"), library);
  void* const handle = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) give_up(path);
  for (size_t i = 0; i < N; ++i) {
    void* const f = dlsym(handle, stubs[i].name);
    if (!f) give_up(path);
    slots[i] = reinterpret_cast<cuda::EntryFn>(static_cast<char*>(f) + cuda::kSecondWayIn);
  }
}

template <size_t N>
cuda::EntryFn find(const Stub (&stubs)[N], const char* name) {
  size_t from = 0, to = N;
  while (from < to) {
    const size_t middle = (from + to) / 2;
    const int order = strcmp(stubs[middle].name, name);
    if (order == 0) return stubs[middle].code;
    if (order < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return nullptr;
}

}  // namespace

cuda::EntryFn find_stub(RuntimeVersion version, const char* name) {
  return version == RuntimeVersion::Cuda12 ? find(stubs12, name) : find(stubs13, name);
}

}  // namespace us::loader

void us_fill12() { us::loader::fill("libcudart.so.12", us::loader::stubs12, us_slot12_s); }
void us_fill13() { us::loader::fill("libcudart.so.13", us::loader::stubs13, us_slot13_s); }
