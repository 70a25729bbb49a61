// SPDX-License-Identifier: Apache-2.0
// Which executions of PTX blocks a block of machine code stands for.
//
// One execution of a PTX block is a set of elements: its anchors, statements of memory and synchronisation that the
// compiler kept (anchors.inc); or, of a block of arithmetic alone, the block itself. A block of machine code uses
// elements: what it surely does, and what it may stand for (what a guard decides, and arithmetic). A loop that the
// compiler has unrolled uses elements of several executions; how many, the copies of its anchors say, and where the
// compiler made one of several equal ones, the constant of the loop's own addition.
//
//   PTX                    machine code                          uses
//   L: ld a; st b;         LDG LDG LDG LDG STG STG STG STG       4 x ld, 4 x st
//      add i, i, 1;        IADD3 R, R, 0x4
//      bra L               BRA
#pragma once
#include "sass/anchors.h"
#include "sass/graph.h"

namespace us::sass {

struct Map {
  static constexpr u32 kNone = Program::kNone;
  static constexpr std::size_t kMostElements = 64;  // of a PTX block
  struct Use {
    u32 element = 0;
    u32 surely = 0, at_most = 0;
  };
  struct Region {  // that BSSY opens for a barrier, or BREAK leaves
    u32 barrier = 0;
    bool opens = false, guarded = false;
  };
  struct Block {
    std::vector<Use> uses{};     // by element
    std::vector<u32> next{};     // where a warp whose lanes stay together goes on
    std::vector<u32> sources{};  // PTX blocks that its instructions come from, sorted
    bool for_each_lane = false;  // repeats until it was done for each lane
    bool retries = false;        // repeats until a swap has come true for each lane: a loop that the compiler made
    bool joins = false;          // ends where lanes that are apart meet: each group comes here by itself
    u32 barrier = 0;             // .. of which it waits for
    std::vector<Region> regions{};
    u32 taken = kNone;                       // where the branch at its end goes
    bool gathers = false;                    // brings lanes together that come here by themselves
    bool slow = false;                       // calls a subroutine of the compiler
    bool elsewhere = false;                  // comes where a generic address is in no global memory
    std::vector<u32> shortest{}, longest{};  // ... blocks of it, as for probe::Detour::Short and Long
    u32 detours = kNone;                     // ... for which Program::Statement::detours stand
    u32 back = kNone;      // calls a function: `next` are those that it may be, and this is where they come back
    bool returns = false;  // to whoever called; `next`: where it does not
    bool ends = false;     // leaves the kernel: always, if nothing is in `next`
  };

  // The function of the program has the same name. `loose`: blocks of PTX are told by their arithmetic alone, for where
  // anchors do not lead through.
  static Map make(const Program&, const Function&, const Graph&, bool loose = false);

  std::vector<u32> statements{};             // of the program, by instruction
  std::vector<bool> further{};               // ... it loads more of what one before it of the same statement began
  std::vector<Block> blocks{};               // as in the graph
  std::vector<std::vector<u32>> elements{};  // of one execution of a PTX block
  enum class Kind : u8 {
    Arithmetic,  // a block that has nothing else
    Access,
    Order  // barriers and waits: nothing is moved over them
  };
  std::vector<Kind> kinds{};  // by element
  std::size_t mapped = 0;     // instructions with a statement
};

}  // namespace us::sass
