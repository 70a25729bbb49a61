// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async of a warpgroup, as an H200 does it (tests/programs/wgmma_step.cu): a warp that comes to it waits
// there until all four have come; none waits for others at wgmma.fence, commit_group and wait_group. So whatever a warp
// stores behind its wait has been read before by all four.
//
//   warp 0  issue ─┐  columns  columns ...         wait_group
//   warp 1  issue ─┤  columns  columns ...         wait_group
//   warp 2  issue ─┤  columns  columns ...         wait_group
//   warp 3  issue ─┴─ columns  columns ...         wait_group
//                  ▲                               ▲
//                  eager: matrices are read        late: when the first warp waits; then registers get their sums
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/abi/mma_code.h"

namespace us::device {

// The matrices of one product, taken out of memory and registers.
class WgmmaTerms {
 public:
  void open(const MmaCode&, u32 tiles);
  void read_a(u32 warp, const u8* shared, u64 descriptor, const u64* registers);  // registers: four of a, the metadata
  void read_b(u32 tile, const u8* shared, u64 descriptor);                        // eight columns
  void multiply(u32 warp, u32 tile, const u64* c, u64* results) const;
  struct Limit {
    u32 end = ~0u;                       // bytes of shared memory that the block has
    bool broken = false;                 // a matrix sticks out
    std::vector<u32>* chunks = nullptr;  // if set: where each 16 bytes are read
  } limit;

 private:
  struct alignas(64) Line {
    u32 word[16];
  };
  Line* of_a(u32 warp) { return lines_.data() + warp * 3 * depth_; }
  Line* of_b(u32 tile) { return lines_.data() + (4 * 3 + tile * 2) * depth_; }
  MmaCode code_;
  u32 depth_ = 0;
  std::vector<Line> lines_;
  numerics::MmaElements a_[4], b_[32];
};

struct Wgmma {
  MmaCode code;  // tile: how many
  u32 came = 0;  // warps
  bool read = false;
  bool now = false;  // random: delivered at issue
  u64 a[4] = {}, b = 0;
  u64 registers[4][5 * 32];
  WgmmaTerms terms;
};

struct Warpgroup {
  std::shared_ptr<Wgmma> gathering;          // not all warps have come
  std::vector<std::shared_ptr<Wgmma>> made;  // used again when no warp holds them
  u32 waiting = 0;                           // warps of the CTA
};

// What a warp has issued. Only late and random deliveries are queued.
struct WgmmaQueue {
  struct Columns {
    u32 tile;
    bool keep;   // what was in the registers is added
    u32 key[4];  // registers
    u64 c[4 * 32];
    std::vector<std::pair<u32, u32>> copies = {};  // of which sum, to which register
  };
  struct Product {
    std::shared_ptr<Wgmma> wgmma;
    u32 group = ~0u;  // not committed
    std::vector<Columns> columns;
  };
  std::shared_ptr<Wgmma> last;
  std::deque<Product> queue;
  u32 groups = 0;                                        // committed
  std::unordered_map<u32, std::array<u64, 32>> results;  // delivered, not yet in their registers
  void clear() { last.reset(), queue.clear(), results.clear(), groups = 0; }
};

}  // namespace us::device
