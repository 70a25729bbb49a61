// SPDX-License-Identifier: Apache-2.0
// What an asynchronous copy instruction says besides its operands, in one number: written by codegen, read by
// rt_bulk.cpp.
#pragma once
#include "device/abi/reduce_codes.h"
#include "memory/tensor_map.h"

namespace us::device {

class BulkCode {
 public:
  constexpr BulkCode() = default;
  constexpr explicit BulkCode(u64 bits) : bits_(bits) {}
  constexpr u64 bits() const { return bits_; }

  constexpr bool from_global() const { return bits_ & 1; }
  constexpr bool to_global() const { return bits_ & 2; }
  constexpr bool masked() const { return bits_ & 4; }  // a CTA mask (multicast), or a byte mask (to global memory)
  constexpr bool im2col() const { return bits_ & 8; }
  constexpr u32 dimensions() const { return bits_ >> 4 & 7; }
  constexpr ReduceOp op() const { return static_cast<ReduceOp>(bits_ >> 8 & 0xff); }
  constexpr Element element() const { return static_cast<Element>(bits_ >> 16 & 0xff); }

  constexpr BulkCode& from_global(bool v) { return set(v, 0); }
  constexpr BulkCode& to_global(bool v) { return set(v, 1); }
  constexpr BulkCode& masked(bool v) { return set(v, 2); }
  constexpr BulkCode& im2col(bool v) { return set(v, 3); }
  constexpr BulkCode& dimensions(u32 n) { return set(n, 4); }
  constexpr BulkCode& reduction(ReduceOp op, Element e) { return set(u64(op), 8).set(u64(e), 16); }

 private:
  constexpr BulkCode& set(u64 v, u32 at) {
    bits_ |= v << at;
    return *this;
  }
  u64 bits_ = 0;
};

// Fields of tensormap.replace.
enum class MapField : u8 {
  Address,
  Rank,
  ElementType,
  Interleave,
  Swizzle,
  Fill,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride
};

// The element type of a reduction into a tensor; false: an H200 takes it for an illegal instruction.
constexpr bool element_of_map(u8 type, ReduceOp op, Element& e) {
  using memory::TensorMap;
  switch (type) {
    case TensorMap::U32:
      return e = Element::U32, true;
    case TensorMap::S32:
      return e = Element::S32, true;
    case TensorMap::U64:
      return e = Element::U64, true;
    case TensorMap::S64:
      return e = Element::S64, op == ReduceOp::Min || op == ReduceOp::Max;
    case TensorMap::F16:
      return e = Element::F16, true;
    case TensorMap::BF16:
      return e = Element::BF16, true;
    case TensorMap::F32:
    case TensorMap::F32Ftz:
      return e = Element::F32, true;
    case TensorMap::F64:
      return e = Element::F64, true;
    default:
      return false;
  }
}

}  // namespace us::device
