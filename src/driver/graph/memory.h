// SPDX-License-Identifier: Apache-2.0
// Memory that allocation nodes name: an address for as long as a graph or an executable of it exists, there to be used
// between the launch that allocates it and what frees it.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "driver/order/executor.h"

namespace us::driver {

class Context;
class GraphMemory;
class Runtime;

class GraphBlock {
 public:
  GraphBlock(GraphMemory& m, u32 device, u64 address, u64 bytes)
      : memory_(m), device_(device), address_(address), bytes_(bytes) {}
  ~GraphBlock();
  GraphBlock(const GraphBlock&) = delete;
  GraphBlock& operator=(const GraphBlock&) = delete;
  u32 device() const { return device_; }
  u64 address() const { return address_; }
  u64 bytes() const { return bytes_; }

 private:
  GraphMemory& memory_;
  const u32 device_;
  const u64 address_, bytes_;
};

class GraphMemory {
 public:
  enum Attribute : int { UsedNow, UsedHigh, ReservedNow, ReservedHigh };  // CUgraphMem_attribute

  explicit GraphMemory(Runtime& r) : runtime_(r) {}
  Error allocate(Context&, u32 device, u64 bytes, std::shared_ptr<GraphBlock>& out);
  std::shared_ptr<GraphBlock> find(u64 address) const;
  bool knows(u64 address) const { return find(address) != nullptr; }
  bool live(u64 address) const;
  Error start(const std::shared_ptr<GraphBlock>&);  // InvalidValue: it was not freed since
  Error end(u64 address);                           // InvalidValue: it is not live
  // A launch that uses `bytes` until `last` is complete; launches in one stream share them.
  void map(u32 device, u64 stream, u64 bytes, const NodeRef& last);

  Error get(u32 device, int attribute, u64& out) const;
  Error set(u32 device, int attribute, u64 value);
  void trim(u32 device);

 private:
  friend class GraphBlock;
  struct Use {
    u64 used = 0, used_high = 0, reserved = 0, reserved_high = 0;
    std::map<u64, std::pair<u64, NodeRef>> running;  // by stream
  };
  u64 live_bytes(u32 device) const;
  Runtime& runtime_;
  mutable std::mutex m_;  // guards the members below
  std::map<u64, std::weak_ptr<GraphBlock>> blocks_;
  std::map<u64, std::shared_ptr<GraphBlock>> live_;
  std::map<u32, Use> use_;
};

}  // namespace us::driver
