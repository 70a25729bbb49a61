// SPDX-License-Identifier: Apache-2.0
#include "device/copy/reduce.h"

#include <atomic>
#include <cstring>

#include "numerics/atomic.h"

namespace us::device {
namespace {

using numerics::AtomicOp, numerics::AtomicType;

AtomicType type_of(Element e) {
  using Number = AtomicType::Number;
  constexpr Number numbers[] = {Number::Unsigned, Number::Signed, Number::Unsigned, Number::Signed,
                                Number::F16,      Number::BF16,   Number::F32,      Number::F64};
  AtomicType t;
  t.number = numbers[u32(e)], t.shared = true;
  return t;
}
AtomicOp operation(ReduceOp op, const AtomicType& t) {
  const bool is_float = t.number > AtomicType::Number::Signed;
  switch (op) {
    case ReduceOp::Add:
      return is_float ? AtomicOp::FAdd : AtomicOp::Add;
    case ReduceOp::Min:
      return is_float ? AtomicOp::FMin : AtomicOp::Min;
    case ReduceOp::Max:
      return is_float ? AtomicOp::FMax : AtomicOp::Max;
    case ReduceOp::Inc:
      return AtomicOp::Inc;
    case ReduceOp::Dec:
      return AtomicOp::Dec;
    case ReduceOp::And:
      return AtomicOp::And;
    case ReduceOp::Or:
      return AtomicOp::Or;
    case ReduceOp::Xor:
      return AtomicOp::Xor;
    case ReduceOp::None:
      break;
  }
  US_UNREACHABLE();
}

template <class T>
void reduce(u8* dst, const u8* src, u32 bytes, Reduction r) {
  const numerics::ScalarArithmetic<T> arithmetic{type_of(r.type)};
  const AtomicOp op = operation(r.op, arithmetic.type);
  for (u32 at = 0; at < bytes; at += sizeof(T)) {
    T b;
    std::memcpy(&b, src + at, sizeof b);
    std::atomic_ref<T> cell(*reinterpret_cast<T*>(dst + at));
    T seen = cell.load(std::memory_order_relaxed);
    while (
        !cell.compare_exchange_weak(seen, numerics::updated(arithmetic, op, seen, b, T{}), std::memory_order_relaxed)) {
    }
  }
}

}  // namespace

u32 bytes_of(Element e) {
  switch (e) {
    case Element::F16:
    case Element::BF16:
      return 2;
    case Element::U64:
    case Element::S64:
    case Element::F64:
      return 8;
    default:
      return 4;
  }
}

void reduce_into(u8* dst, const u8* src, u32 bytes, Reduction r) {
  switch (bytes_of(r.type)) {
    case 2:
      return reduce<u16>(dst, src, bytes, r);
    case 8:
      return reduce<u64>(dst, src, bytes, r);
    default:
      return reduce<u32>(dst, src, bytes, r);
  }
}

}  // namespace us::device
