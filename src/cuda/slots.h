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
