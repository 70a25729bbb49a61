// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies, st.async, red.async, tensormap.replace (PTX ISA, "Asynchronous copy" and "Tensors").
#include "codegen/semantics/memory.h"
#include "device/abi/bulk_code.h"

namespace us::codegen {

using device::BulkCode;
using device::Element;
using device::MapField;
using device::ReduceOp;
using device::RtFn;

namespace {

ReduceOp operation(const Sem& s) {
  static constexpr std::pair<Tok, ReduceOp> all[] = {
      {Tok::add, ReduceOp::Add}, {Tok::min, ReduceOp::Min},  {Tok::max, ReduceOp::Max}, {Tok::inc, ReduceOp::Inc},
      {Tok::dec, ReduceOp::Dec}, {Tok::and_, ReduceOp::And}, {Tok::or_, ReduceOp::Or},  {Tok::xor_, ReduceOp::Xor}};
  for (auto [tok, op] : all)
    if (s.has(tok)) return op;
  return ReduceOp::None;
}
Element element(Type t) {
  switch (t) {
    case Type::s32:
      return Element::S32;
    case Type::u64:
    case Type::b64:
      return Element::U64;
    case Type::s64:
      return Element::S64;
    case Type::f16:
      return Element::F16;
    case Type::bf16:
      return Element::BF16;
    case Type::f32:
      return Element::F32;
    case Type::f64:
      return Element::F64;
    default:
      return Element::U32;
  }
}
V code_of(const Sem& s, BulkCode c) { return s.b.imm(64, c.bits()); }
V none(const Sem& s) { return imm32(s.b, 0); }

}  // namespace

// global -> shared: [d], [a], size, [mbar], CTA mask
void sem_cp_async_bulk_load(const Sem& s) {
  const bool multicast = s.has(Tok::multicast_cluster);
  s.b.call_rt(RtFn::CpBulk,
              {code_of(s, BulkCode().from_global(true).masked(multicast)), shared_offset(s, 0, false), address(s, 1),
               s.in(2, Type::u32), shared_offset(s, 3, false), multicast ? s.in(4, Type::b16) : none(s)},
              {}, nullptr);
}
// shared -> shared of the cluster, also reducing: [d], [a], size, [mbar]
void sem_cp_async_bulk_to_cluster(const Sem& s) {
  BulkCode code;
  if (const ReduceOp op = operation(s); op != ReduceOp::None) code.reduction(op, element(s.i.type()));
  s.b.call_rt(RtFn::CpBulk,
              {code_of(s, code), shared_offset(s, 0, false), shared_offset(s, 1, false), s.in(2, Type::u32),
               shared_offset(s, 3, false), none(s)},
              {}, nullptr);
}
// shared -> global, also reducing: [d], [a], size, policy, byte mask
void sem_cp_async_bulk_store(const Sem& s) {
  BulkCode code;
  code.to_global(true);
  const bool masked = s.has(Tok::cp_mask);
  code.masked(masked);
  if (const ReduceOp op = operation(s); op != ReduceOp::None) code.reduction(op, element(s.i.type()));
  s.b.call_rt(RtFn::CpBulk,
              {code_of(s, code), address(s, 0), shared_offset(s, 1, false), s.in(2, Type::u32), none(s),
               masked ? s.in(4, Type::b16) : none(s)},
              {}, nullptr);
}
void sem_cp_async_bulk_commit_group(const Sem& s) { s.b.call_rt(RtFn::CpBulkCommit, {}, {}, nullptr); }
void sem_cp_async_bulk_wait_group(const Sem& s) {
  s.b.call_rt(RtFn::CpBulkWait, {s.in(0, Type::u32), imm32(s.b, s.has(Tok::read))}, {}, nullptr);
}
// Caches hold nothing that memory has not.
void sem_cp_async_bulk_prefetch(const Sem& s) {
  if (!s.b.listens()) return;
  const device::HintCode code{.bulk = true};
  s.b.call_rt(RtFn::ProbeHint, {s.b.imm(64, code.pack()), address(s, 0), s.in(1, Type::u32)}, {}, nullptr);
}
void sem_cp_async_bulk_prefetch_tensor(const Sem&) {}

namespace {
// Operands k and k + 1 are [map, {coordinates}], operand `shared` the place in shared memory, `mbar` and `offsets` as
// they are there.
void tensor_copy(const Sem& s, u32 k, u32 shared, BulkCode code, int mbar, int offsets, int ctas) {
  Builder& b = s.b;
  const ir::Operand& at = s.i.ops[k + 1];
  V c[5], off[3];
  u32 n = 0;
  if (at.kind != ir::Operand::Kind::Vector) c[n++] = b.read(at, Type::s32);
  for (const ir::Operand& e : at.elems)
    if (n < 5) c[n++] = b.read(e, Type::s32);
  code.dimensions(n);
  for (u32 d = n; d < 5; ++d) c[d] = imm32(b, 0);
  for (u32 d = 0; d < 3; ++d) off[d] = imm32(b, 0);
  if (offsets >= 0 && s.has_operand(static_cast<u32>(offsets))) {
    const ir::Operand& v = s.i.ops[static_cast<u32>(offsets)];
    if (v.kind != ir::Operand::Kind::Vector) off[0] = b.read(v, Type::b16);
    for (u32 d = 0; d < 3 && d < v.elems.size(); ++d) off[d] = b.read(v.elems[d], Type::b16);
  }
  b.call_rt(RtFn::CpTensor,
            {code_of(s, code), address(s, k), shared_offset(s, shared, false),
             mbar >= 0 ? shared_offset(s, static_cast<u32>(mbar), false) : none(s),
             ctas >= 0 ? s.in(static_cast<u32>(ctas), Type::b16) : none(s), c[0], c[1], c[2], c[3], c[4], off[0],
             off[1], off[2]},
            {}, nullptr);
}
bool is_im2col(const Sem& s) { return s.has(Tok::im2col) || s.has(Tok::im2col_no_offs); }
}  // namespace

// [d], [map, {c}], [mbar], {offsets}, CTA mask
void sem_cp_async_bulk_tensor_load(const Sem& s) {
  const bool multicast = s.has(Tok::multicast_cluster);
  tensor_copy(s, 1, 0, BulkCode().from_global(true).masked(multicast).im2col(is_im2col(s)), 3, 4, multicast ? 5 : -1);
}
// [map, {c}], [a], also reducing
void sem_cp_async_bulk_tensor_store(const Sem& s) {
  tensor_copy(s, 0, 2, BulkCode().to_global(true).im2col(is_im2col(s)).reduction(operation(s), Element::U32), -1, -1,
              -1);
}

namespace {
void store_async(const Sem& s, BulkCode code, u32 count) {
  Builder& b = s.b;
  const Type t = s.i.type();
  const ir::Operand& o = s.i.ops[1];
  V v[4];
  for (u32 k = 0; k < 4; ++k) {
    const bool there = o.kind == ir::Operand::Kind::Vector ? k < o.elems.size() : k == 0;
    v[k] = !there ? none(s) : b.zext(o.kind == ir::Operand::Kind::Vector ? b.read(o.elems[k], t) : b.read(o, t), 64);
  }
  b.call_rt(RtFn::StoreAsync,
            {code_of(s, code), shared_offset(s, 0, false), shared_offset(s, 2, false),
             imm32(b, isa::bits_of(t) / 8 | count << 8), v[0], v[1], v[2], v[3]},
            {}, nullptr);
}
}  // namespace
void sem_st_async(const Sem& s) { store_async(s, BulkCode(), s.has(Tok::v4) ? 4 : s.has(Tok::v2) ? 2 : 1); }
void sem_red_async(const Sem& s) { store_async(s, BulkCode().reduction(operation(s), element(s.i.type())), 1); }

// [map], dimension (may be absent), value
void sem_tensormap_replace(const Sem& s) {
  static constexpr std::pair<Tok, MapField> fields[] = {{Tok::global_address, MapField::Address},
                                                        {Tok::rank, MapField::Rank},
                                                        {Tok::elemtype, MapField::ElementType},
                                                        {Tok::interleave_layout, MapField::Interleave},
                                                        {Tok::swizzle_mode, MapField::Swizzle},
                                                        {Tok::fill_mode, MapField::Fill},
                                                        {Tok::box_dim, MapField::BoxDim},
                                                        {Tok::global_dim, MapField::GlobalDim},
                                                        {Tok::global_stride, MapField::GlobalStride},
                                                        {Tok::element_stride, MapField::ElementStride}};
  MapField field = MapField::Address;
  for (auto [tok, f] : fields)
    if (s.has(tok)) field = f;
  const bool by_dimension = field >= MapField::BoxDim;
  V map = s.has(Tok::shared_cta) ? s.b.to_generic(isa::Space::Shared, s.b.zext(shared_offset(s, 0, false), 64))
                                 : address(s, 0);
  if (s.b.listens()) {  // the ISA: a weak operation on the whole map
    using Kind = probe::Access::Kind;
    const V rows[] = {
        s.b.imm(64,
                device::AccessCode{.kind = Kind::Write, .space = device::AccessCode::kGeneric, .bytes = 16, .count = 8}
                    .pack()),
        map};
    s.b.call_rt(RtFn::ProbeAccess, {rows, 2}, {}, nullptr);
  }
  s.b.call_rt(RtFn::TensorMapReplace,
              {map, imm32(s.b, static_cast<u32>(field)), by_dimension ? s.in(1, Type::u32) : none(s),
               s.in(by_dimension ? 2 : 1)},
              {}, nullptr);
}
// Copies the map; the fence orders what the copy engine reads after it, which here reads like a thread.
void sem_tensormap_cp_fenceproxy(const Sem& s) {
  Builder& b = s.b;
  MemRef from, to;
  from.space = isa::Space::Shared;
  from.addr = shared_offset(s, 1, false);
  to.space = isa::Space::Global;
  to.addr = address(s, 0);
  from.bits = to.bits = 64;
  for (u32 k = 0; k < 16; ++k) {
    from.offset = to.offset = 8 * k;
    V v;
    b.load(from, {&v, 1});
    b.store(to, {&v, 1});
  }
  if (b.listens()) b.note(fence_note(device::FenceKind::TensormapRelease, Order::Release, scope_of(s, Scope::Sys)));
  b.fence(Order::AcqRel, Scope::Sys);
}

}  // namespace us::codegen
