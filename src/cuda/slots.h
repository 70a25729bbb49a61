// SPDX-License-Identifier: Apache-2.0
// Exported functions without code of their own: per symbol one slot and one jump through it. Slots stand in the order
// in which US_SLOT names them, in their own section `prefix`s, so they form the array that US_SLOT_ARRAY declares.
#pragma once
#include "cuda/entry_table.h"

// `initial`: what a slot holds before anybody fills it, as the assembler reads it.
#define US_SLOT(prefix, name, initial)                                                       \
  asm(".pushsection ." prefix "s,\"aw\",@progbits\n" prefix "_" name ": .quad " initial      \
      "\n.popsection\n"                                                                      \
      ".pushsection .text\n.balign 16\n"                                                     \
      ".globl " name "\n.type " name ",@function\n" name ": endbr64\n jmp *" prefix "_" name \
      "(%rip)\n"                                                                             \
      ".size " name ", .-" name "\n.popsection")
#define US_SLOT_ARRAY(prefix)                                                                \
  asm(".pushsection ." #prefix "s,\"aw\",@progbits\n.balign 8\n" #prefix "s:\n.popsection"); \
  extern "C" us::cuda::EntryFn prefix##s[] __attribute__((visibility("hidden")))

// The same with a slot that is filled when it is first used: until then the jump goes on to `prefix`_first, which
// US_LAZY_FILL defines. Constructors of libraries that do not know of each other run in any order, so a call may come
// before anybody filled the slots.
#define US_LAZY_SLOT(prefix, name)                                                                               \
  asm(".pushsection ." prefix "s,\"aw\",@progbits\n" prefix "_" name ": .quad " prefix "_unfilled_" name         \
      "\n.popsection\n"                                                                                          \
      ".pushsection .text\n.balign 16\n"                                                                         \
      ".globl " name "\n.type " name ",@function\n" name ": endbr64\n jmp *" prefix "_" name "(%rip)\n" prefix   \
      "_unfilled_" name ": leaq " prefix "_" name "(%rip), %r11\n jmp " prefix "_first\n.size " name ", .-" name \
      "\n.popsection")

// `fill`: a function of C linkage without arguments that fills all slots of `prefix`, or does not return. Arguments of
// the call that needs it are kept, and so is %r10d (calling_runtime.h). 10 words and 8 vectors on the stack, with the
// return address and a word of padding, leave it aligned.
#define US_LAZY_FILL(prefix, fill) US_LAZY_FILL_AND(prefix, fill, "")
#define US_LAZY_FILL_AND(prefix, fill, last)                                                                        \
  asm(".pushsection .text\n.balign 16\n.type " prefix "_first,@function\n" prefix                                   \
      "_first:\n"                                                                                                   \
      " pushq %rbp\n movq %rsp, %rbp\n pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n pushq %r8\n pushq %r9\n" \
      " pushq %rax\n pushq %r10\n pushq %r11\n subq $136, %rsp\n"                                                   \
      " .irp n,0,1,2,3,4,5,6,7\n movups %xmm\\n, 16*\\n(%rsp)\n .endr\n"                                            \
      " call " fill                                                                                                 \
      "\n"                                                                                                          \
      " .irp n,0,1,2,3,4,5,6,7\n movups 16*\\n(%rsp), %xmm\\n\n .endr\n"                                            \
      " addq $136, %rsp\n popq %r11\n popq %r10\n popq %rax\n popq %r9\n popq %r8\n popq %rcx\n popq %rdx\n popq "  \
      "%rsi\n"                                                                                                      \
      " popq %rdi\n popq %rbp\n" last " jmp *(%r11)\n.size " prefix "_first, .-" prefix "_first\n.popsection")
