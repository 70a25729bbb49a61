// SPDX-License-Identifier: Apache-2.0
// What the model of a multiprocessor knows of one machine instruction: where it goes, how long that is taken, and when
// its result is there. Control words carry what must be waited for, so operands do not matter.
#pragma once
#include <vector>

#include "sass/code.h"
#include "timing/parameters.h"

namespace us::timing {

// Fma: both halves of that pipe; FmaHeavy: the half that has integers, too.
enum class Pipe : u8 { None, Fma, FmaHeavy, Half, Alu, Fp64, Xu, Tensor, Uniform, Memory };
inline constexpr u32 kPipes = 10;

struct Row {
  enum class Kind : u8 {
    Plain,
    Constant,
    Shuffle,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    Load,  // of global, generic or local memory
    Store,
    Atomic,      // with an answer
    Reduction,   // without
    Copy,        // LDGSTS
    Invalidate,  // L1
    CommitCopies,
    Reconverge,  // where lanes meet
    AwaitCopies,
    Bulk,       // to shared memory
    BulkStore,  // from there
    CommitBulk,
    Mbarrier,
    AwaitMbarrier,
    Barrier,
    Arrive,  // at a barrier, without waiting
    ClusterBarrier,
    Fence,
    Matrix,  // of a warpgroup
    AwaitMatrix,
    Sleep,
    Branch,
    Exit,
  };
  Kind kind = Kind::Plain;
  Pipe pipe = Pipe::None;
  float interval = 1;  // cycles of the pipe, of a sub-partition
  float latency = 0;   // cycles until the result is there, where a scoreboard tells
  sass::Control control;
  u8 words = 1;           // of 4 bytes, of a lane's access
  u8 reads[2] = {};       // registers of each bank
  bool twice = false;     // a product with a high half: it goes through its pipe again
  u16 number = 0;         // of a barrier, or how many groups may be left
  u16 count = 0;          // threads that a barrier waits for; 0: all of the CTA
  bool bypass = false;    // of L1
  bool floats = false;    // an atomic operation of floating point
  bool swaps = false;     // an atomic compare-and-swap
  bool counts = false;    // adds how many lanes there are: those of one address go together
  bool spins = false;     // ... of a loop that the compiler made: lanes whose word is taken fail at once
  bool joined = false;    // an atomic that one lane does for all of them
  bool further = false;   // loads more of what a row before it began to load
  bool constant = false;  // reads a constant bank
  bool never = false;     // its guard is false
  bool local = false;     // an access of local memory
  i32 frame = -1;         // where that is in the frame of the function; -1: elsewhere
};

Row row_of(const sass::Instruction&, const Parameters&);
std::vector<Row> rows_of(const sass::Function&, const Parameters&);

}  // namespace us::timing
