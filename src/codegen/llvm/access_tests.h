// SPDX-License-Identifier: Apache-2.0
// Tests of accesses for what a device refuses: addresses out of bounds (bounds.cpp) and misaligned ones
// (alignment.cpp). They are gathered, and made together (access_tests.cpp).
#pragma once
#include <array>
#include <functional>
#include <map>
#include <set>

#include "codegen/llvm/deferred_stores.h"
#include "codegen/llvm/runtime_calls.h"
#include "codegen/llvm/slots.h"
#include "device/abi/bad_access.h"

namespace us::codegen {

// The first and the last byte of an access, from the base of its address.
struct Extent {
  i64 first, last;
};

struct AccessTest {
  llvm::Value* bad = nullptr;   // i32: not zero if the access is refused
  llvm::Value* base = nullptr;  // for the message: an address, or 32
  device::BadAccess access;
  std::shared_ptr<const Offsets> offsets;
  llvm::DebugLoc loc;
  std::function<llvm::Value*()> exact;  // `bad` may be too strict: the refused lanes, asked for only then
};

class AccessTests : private Part {
 public:
  AccessTests(FunctionState&, Values&, RuntimeCalls&, DeferredStores&, Slots&);

  void require_alignment(const MemRef&, LV& addr);
  void require_bounds(const MemRef&, LV& addr, bool writes);
  void require_stack(Value* top);
  void make_all();  // of everything noted so far
  // What has been noted, to be made later than what comes now.
  std::vector<AccessTest> put_aside();
  void put_back(std::vector<AccessTest> list) { list_ = std::move(list); }

 private:
  static constexpr std::size_t kMaxTests = 16;

  void note(Value* bad, device::BadAccess::Rule, const MemRef&, LV& addr, std::function<Value*()> exact = {});
  void report(std::span<const AccessTest>);
  [[nodiscard]] Block* cold_block(Value* condition, const char* cold, const char* go);  // goes on in the cold one
  // alignment.cpp
  bool root_alignment(const MemRef&, LV& addr);
  void require_lane_alignment(const MemRef&, LV& addr);  // of a vector of addresses, at once
  void note_alignment(Value* low, u64 rest, const MemRef&, LV& addr);
  // bounds.cpp
  void global_bounds(const MemRef&, LV& addr, bool writes);
  void generic_bounds(const MemRef&, LV& addr);
  void shared_bounds(const MemRef&, LV& addr);
  void local_bounds(const MemRef&, LV& addr);
  void param_bounds(const MemRef&, LV& addr);
  bool in_variable(const MemRef&, isa::Space) const;
  Value* outside_shared(Value* address, Extent, bool above, Value* end);
  Value* outside_global(LV& addr, i64 offset);    // i32
  Value* is_outside(Value* address, i64 offset);  // i1, or one a lane
  Value* lanes_outside_window(LV& addr, const MemRef&);
  Value* lanes_of(Value* flags);  // i32, active ones
  Value* shared_end();            // i32
  Value* cluster_blocks();        // i32
  Value* local_bytes();           // i64

  Values& v_;
  RuntimeCalls& runtime_;
  DeferredStores& stores_;
  Slots& slots_;
  std::vector<AccessTest> list_;                                         // of the block so far, made at its end
  const std::vector<KnownBits>& known_bits_;                             // by ValueId
  std::map<std::array<u32, 3>, ir::DominatingBlocks> alignment_tested_;  // root, rest, size -> blocks
  const std::vector<Reach>& reach_;                                      // by ValueId
  const std::set<BoundsPlan::Key>& in_reach_;                            // instruction, address register: tested before
  const std::map<BoundsPlan::Key, ir::ValueId>& reach_root_;             // the same: to be tested by this value
};

}  // namespace us::codegen
