// SPDX-License-Identifier: Apache-2.0
// Functions for sparse matrices and refactorisation are the toolkit's, whose kernels are run from PTX for newer
// devices: each is a jump into its library, which is opened when the first is called.
#include <dlfcn.h>

#include <cstddef>

#include "cuda/stock/stock_library.h"
#include "cuda/stubs/stubs.h"

#ifdef US_OLDER_LIBRARY
constexpr const char *kFile = "libcusolver.so.11", *kMajor = "12";
#else
constexpr const char *kFile = "libcusolver.so.12", *kMajor = "13";
#endif

#define US_OWN(name)
#define US_STUB(name)

namespace {

#define US_STOCK(name) k_##name,
enum Index : int {
#include "cuda/stubs/libcusolver.inc"
  kCount
};
#undef US_STOCK
#define US_STOCK(name) #name,
constexpr const char* kNames[] = {
#include "cuda/stubs/libcusolver.inc"
};
#undef US_STOCK

bool said[kCount];
// What a function is that the toolkit's library lacks.
template <int I>
int refuse() {
  return us::stubs::refuse(said[I], kNames[I]);
}
#define US_STOCK(name) refuse<k_##name>,
constexpr int (*kRefusals[])() = {
#include "cuda/stubs/libcusolver.inc"
};
#undef US_STOCK

}  // namespace

extern "C" {
__attribute__((visibility("hidden"))) void* us_cusolver_found[kCount];

// Where a function is.
__attribute__((visibility("hidden"))) void* us_cusolver_find(size_t index) {
  static void* const library = us::cuda::open_stock(
      {.file = kFile, .setting = nullptr, .variable = nullptr, .major = kMajor, .beside = nullptr, .needed = nullptr});
  void* const there = library ? dlsym(library, kNames[index]) : nullptr;
  void* const code = there ? there : reinterpret_cast<void*>(kRefusals[index]);
  __atomic_store_n(&us_cusolver_found[index], code, __ATOMIC_RELEASE);
  return code;
}

// To the function whose number is in rax. Its arguments are where they were when it begins.
__attribute__((naked, visibility("hidden"))) void us_cusolver_go() {
  asm(R"(
    lea us_cusolver_found(%rip), %r11
    mov (%r11,%rax,8), %r11
    test %r11, %r11
    jz 1f
    jmp *%r11
1:  push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    sub $136, %rsp
    movups %xmm0, (%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    mov %rax, %rdi
    call us_cusolver_find
    mov %rax, %r11
    movups (%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    add $136, %rsp
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    jmp *%r11
  )");
}
}

#define US_STOCK(name)                                                              \
  US_STUB_API __attribute__((naked)) void name() {                                  \
    asm("mov %0, %%eax\n\tjmp us_cusolver_go" : : "i"(static_cast<int>(k_##name))); \
  }
#include "cuda/stubs/libcusolver.inc"
