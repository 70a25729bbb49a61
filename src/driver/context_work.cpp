// SPDX-License-Identifier: Apache-2.0
// Kernels, host functions, copies and sets in a stream.
#include <algorithm>

#include "driver/code/occupancy.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/device_grid.h"
#include "driver/graph/exec.h"
#include "driver/notes.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

constexpr u64 kInline = 16 << 10;  // copies up to this size are cheaper than waking a thread
constexpr u64 kStaged = 64 << 10;  // pageable sources up to this size are read before the call returns

// What stays alive while a grid runs: its parameters, and the words cooperative groups count arrivals in.
struct GridBlock {
  ParamBlock params;
  Workspaces* workspaces = nullptr;
  u64 workspace = 0;
  ~GridBlock() {
    if (workspace) workspaces->put(workspace);
  }
};

Error fill_params(const ir::Function& f, const LaunchArgs& args, ParamBlock& out) {
  out.assign(f.param_bytes, 0);
  if (args.block) {
    if (args.block_bytes > out.size()) return Error::LaunchOutOfResources;
    std::copy_n(static_cast<const u8*>(args.block), args.block_bytes, out.data());
    return Error::Success;
  }
  if (f.params.empty()) return Error::Success;
  if (!args.pointers) return Error::InvalidValue;
  for (std::size_t i = 0; i < f.params.size(); ++i)
    std::copy_n(static_cast<const u8*>(args.pointers[i]), f.params[i].size, out.data() + f.params[i].offset);
  return Error::Success;
}

void give_workspace(GridBlock& block, Workspaces& workspaces, device::GridCtx& g) {
  block.workspaces = &workspaces;
  block.workspace = workspaces.take();
  if (!block.workspace) return;
  *reinterpret_cast<u32*>(block.workspace) = 8;  // size; the barrier follows
  g.envreg[1] = static_cast<u32>(block.workspace >> 32);
  g.envreg[2] = static_cast<u32>(block.workspace);
}

}  // namespace

void set_code(device::Launch& launch, std::shared_ptr<const codegen::Compiled> code) {
  launch.ctx.local_bytes = code->local_bytes;
  launch.ctx.code = code.get();
  launch.code = std::move(code);
}

std::unique_ptr<device::Launch> Context::make_launch(Function& f, const LaunchConfig& c, const device::Dim3& cluster,
                                                     ParamBlock params, u32 depth, std::shared_ptr<GraphRun> run) {
  auto block = std::make_shared<GridBlock>();
  block->params = std::move(params);
  const DeviceSpec& spec = device_.spec();
  auto launch = std::make_unique<device::Launch>();
  device::GridCtx& g = launch->ctx;
  g.params = block->params.data();
  g.symbols = f.module().symbols();
  g.const_bank = f.module().const_bank();
  g.grid = c.grid;
  g.block = c.block;
  g.cluster = cluster;
  g.grid_id = runtime().next_grid_id();
  g.shared_static = f.info().shared_static;
  g.shared_dynamic = static_cast<u32>(c.dynamic_shared);
  g.nsmid = spec.sms;
  if (c.cooperative) give_workspace(*block, runtime().workspaces(), g);
  const u32 threads = c.block.x * c.block.y * c.block.z;
  launch->cooperative = c.cooperative;
  launch->stack_bytes = stack_bytes_;
  launch->max_resident_ctas = blocks_per_sm(spec, needs_at_hand(f, threads, c.dynamic_shared)) * spec.sms;
  launch->keep_alive = std::move(block);
  if (run && run->exec()->device_launch()) g.graph_exec = reinterpret_cast<u64>(run->exec());
  if (f.module().launches()) launch->runtime = std::make_shared<DeviceGrid>(*this, f.module(), depth, std::move(run));
  return launch;
}

Error Context::describe(Function& f, const LaunchConfig& c, const LaunchArgs& args, KernelParams& k) {
  US_TRY(validate(f, c, k.cluster));
  k.handle = c.handle;
  k.packed = args.block != nullptr;
  k.packed_bytes = args.block_bytes;
  k.where = {this, id_};
  k.function = &f;
  k.config = c;
  for (u32 i = 0; i < c.attribute_count; ++i) k.attributes[c.attributes[i].id] = c.attributes[i].value;
  k.config.attributes = nullptr;
  k.config.attribute_count = 0;
  k.config.begun = {};
  return fill_params(f.ir(), args, k.block);
}

Error Context::capture_launch(Function& f, const LaunchConfig& c, const LaunchArgs& args, Stream& s, CapturePoint& at) {
  KernelParams k;
  if (const Error e = describe(f, c, args, k); failed(e)) return runtime().captures().refuse(s, e);
  if (!c.has_priority) k.config.priority = s.priority();
  k.config.has_priority = true;
  k.config.updatable_out = nullptr;
  keep_stream_attributes(s, k.attributes);
  if (c.updatable_out) {
    k.updatable = runtime().graphs().make_updatable();
    *c.updatable_out = reinterpret_cast<u64>(k.updatable.get());
  }
  return runtime().captures().add(at, NodeType::Kernel, std::move(k), c.programmatic_serialization);
}

Error Context::launch(Function& f, const LaunchConfig& c, const LaunchArgs& args, Stream& s) {
  US_TRY(sticky());
  CapturePoint* at = nullptr;
  US_TRY(admit(s, at));
  if (at) return capture_launch(f, c, args, s, *at);
  if (c.updatable_out) return Error::NotSupported;
  if (std::ranges::any_of(c.begun, [&](const auto& e) { return &e->context() != this; })) return Error::InvalidHandle;
  device::Dim3 cluster;
  US_TRY(validate(f, c, cluster));
  std::shared_ptr<const codegen::Compiled> code;
  std::string log;
  const bool overlaps = c.programmatic_serialization;
  const codegen::Variant variant{.block = c.block,
                                 .cluster = cluster,
                                 .asks = runtime().asks(),
                                 .usual_space = runtime().space().usual(),
                                 .dependent = overlaps && f.module().waits_for_grids()};
  if (const Error e = f.code(variant, code, log); failed(e)) {
    runtime().report(log);
    return e;
  }
  ParamBlock params;
  US_TRY(fill_params(f.ir(), args, params));
  auto launch = make_launch(f, c, cluster, std::move(params), 0);
  set_code(*launch, std::move(code));
  if (const GreenContext* const green = s.green()) {
    launch->sms = green->sms();
    launch->max_resident_ctas = launch->max_resident_ctas / device_.spec().sms * static_cast<u32>(launch->sms->size());
    const auto& g = c.grid;
    if (c.cooperative && u64{g.x} * g.y * g.z > launch->max_resident_ctas) return Error::CooperativeLaunchTooLarge;
  }
  launch->record = record_of(f, c, {c.attributes, c.attribute_count, &s});
  if (!c.has_priority) launch->record.priority = s.priority();
  runtime().launched(*launch);
  const NodeRef n = executor_->make(Node::Kind::Kernel);
  n->span = runtime().notes().kernel(place_of(s), *launch, f, launch->record.domain);
  n->launch = std::move(launch);
  executor_->throttle();
  std::vector<NodeRef> begun;
  if (!c.begun.empty()) US_TRY(record_begun(c, s, begun));
  append_kernel(s, n, overlaps ? Place::Overlapping : Place::Behind, begun);
  return Error::Success;
}

Error Context::host_function(Stream& s, const HostParams& h) {
  US_TRY(sticky());
  CapturePoint* at = nullptr;
  US_TRY(admit(s, at));
  if (at) return runtime().captures().add(*at, NodeType::Host, h);
  const NodeRef n = executor_->make(Node::Kind::Host);
  n->work = [h] { h.function(h.data); };
  n->span = runtime().notes().other(place_of(s), probe::Work::What::Host);
  append(s, n);
  return Error::Success;
}

Error Context::callback(Stream& s, std::function<void()> f) {
  US_TRY(sticky());
  US_TRY(not_captured(s));
  const NodeRef n = executor_->make(Node::Kind::Host);
  n->always = true;
  n->work = std::move(f);
  n->span = runtime().notes().other(place_of(s), probe::Work::What::Host);
  append(s, n);
  return Error::Success;
}

Error Context::memory_operations(Stream& s, MemOpParams p) {
  US_TRY(sticky());
  CapturePoint* at = nullptr;
  US_TRY(admit(s, at));
  p.where = {this, id_};
  if (at) return runtime().captures().add(*at, NodeType::MemOps, std::move(p));
  const bool waits = std::ranges::any_of(p.list, [](const MemOp& op) { return op.kind == MemOp::Wait; });
  auto operations = in_turn(std::move(p.list));
  if (!waits)
    return run_later(
        s, 0, [f = std::move(operations)] { f(); },
        runtime().notes().other(place_of(s), probe::Work::What::MemoryOperations));
  wait_until(s, std::move(operations));
  return Error::Success;
}

Error Context::run_in_order(Stream& s, const std::function<void()>& work, SpanRef span) {
  const NodeRef n = executor_->make(Node::Kind::Caller);
  n->span = std::move(span);
  append(s, n);
  executor_->wait_ready(n);
  const Error e = sticky();
  if (!failed(e)) work();
  executor_->complete(n);
  return e;
}

Error Context::run_later(Stream& s, u64 bytes, std::function<void()> work, SpanRef span) {
  const NodeRef n = executor_->make(Node::Kind::Work);
  n->small = bytes <= kInline;
  n->work = std::move(work);
  n->span = std::move(span);
  append(s, n);
  return Error::Success;
}

// One end of a copy: what we know about the memory there.
struct Context::Side {
  bool known = false, device = false, inside = true;
  bool host_pool = false;  // memory of the host that no direction names "device"
  bool sync = false;       // work on it that does not wait by itself is waited for (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
  u64 write_delta = 0;
  bool pageable() const { return !known; }
};

// Mappings may follow each other; a copy may run over several that this device can read and write.
bool Context::accessible(u64 address, u64 extent, Access access, i32 device) const {
  if (device < 0) device = static_cast<i32>(device_.ordinal());
  for (const u64 end = extent > ~address ? ~u64(0) : address + extent; address < end;) {
    u64 next = 0;
    if ((runtime().virtual_memory().rights(address, device, next) & access) != access) return false;
    address = next;
  }
  return true;
}

Context::Side Context::side_of(u64 address, u64 extent, Access access, i32 device) const {
  const auto a = runtime().registry().find(address);
  if (!a)
    return {.device = false,
            .inside = !runtime().registry().overlaps(address, extent) && !runtime().in_device_range(address)};
  const bool own_range = !a->host();
  u64 end = a->address + a->bytes;
  if (a->kind == memory::Kind::Mapped)
    return {.known = true, .device = true, .inside = accessible(address, extent, access, device)};
  if (own_range) end = std::max(end, runtime().device(a->device).heap().copied_end(address));
  return {.known = true,
          .device = own_range && a->kind != memory::Kind::Managed,
          .inside = extent <= end - address,
          .host_pool = a->host() && a->pool,
          .sync = a->sync,
          .write_delta = a->write_delta};
}

// A set is work of the context's device; copies go wherever the ends are.
bool Context::may_set(u64 address) const {
  return runtime().device_count() == 1 || runtime().rights().reach(device_.ordinal(), address, true) > address;
}

bool Context::on_device(u64 address, u64 extent) const {
  const Side s = side_of(address, extent, Both);
  return address && s.known && s.inside;
}

// The named direction must fit what the pointers are; memory that both sides can reach fits everywhere.
Error Context::check_copy(CopyKind kind, const Side& dst, const Side& src) const {
  if (!dst.inside || !src.inside) return Error::InvalidValue;
  const bool to_device = kind == CopyKind::HostToDevice || kind == CopyKind::DeviceToDevice;
  const bool from_device = kind == CopyKind::DeviceToHost || kind == CopyKind::DeviceToDevice;
  if ((to_device && (!dst.known || dst.host_pool)) || (from_device && (!src.known || src.host_pool)))
    return Error::InvalidValue;
  return Error::Success;
}

Error Context::describe(const Copy& given, CopyKind kind, CopyParams& p) {
  if (given.bytes() == 0 || !given.dst || !given.src) return Error::InvalidValue;
  const Side array{.known = true, .device = true};
  const Side dst = given.dst_array ? array : side_of(given.dst, given.dst_extent(), Writes, given.dst_device);
  const Side src = given.src_array ? array : side_of(given.src, given.src_extent(), Reads, given.src_device);
  US_TRY(check_copy(kind, dst, src));
  const bool to_device = kind == CopyKind::HostToDevice || kind == CopyKind::DeviceToDevice;
  const bool from_device = kind == CopyKind::DeviceToHost || kind == CopyKind::DeviceToDevice;
  const auto end = [&](u64 address, u64 pitch, u64 height, bool device) {
    const auto type = kind == CopyKind::Default ? CopyEndParams::Unified
                      : device                  ? CopyEndParams::Device
                                                : CopyEndParams::Host;
    return CopyEndParams{.type = type, .address = address, .pitch = pitch, .height = height};
  };
  const auto rows = [](u64 slice, u64 pitch) { return pitch ? slice / pitch : 0; };
  p.where = {this, id_};
  p.kind = kind;
  p.width = given.width;
  p.height = given.height;
  p.depth = given.depth;
  p.dst = end(given.dst, given.dst_pitch, rows(given.dst_slice, given.dst_pitch), to_device);
  p.src = end(given.src, given.src_pitch, rows(given.src_slice, given.src_pitch), from_device);
  p.copy = given;
  p.copy.dst += dst.write_delta;
  p.dst_device = dst.device;
  p.src_device = src.device;
  p.pageable = dst.pageable() || src.pageable();
  return Error::Success;
}

Error Context::describe(const Fill& given, FillParams& p) {
  const Side dst = side_of(given.dst, given.extent(), Writes);
  if (given.bytes() == 0 || !given.dst || !dst.known || !dst.inside || !may_set(given.dst) || given.dst % given.element)
    return Error::InvalidValue;
  p.where = {this, id_};
  p.dst = given.dst;
  p.pitch = given.pitch;
  p.value = given.value;
  p.element = given.element;
  p.width = given.width;
  p.height = given.height;
  p.fill = given;
  p.fill.dst += dst.write_delta;
  return Error::Success;
}

Error Context::copy(const Copy& given, CopyKind kind, Stream& s, bool async) {
  US_TRY(sticky());
  CapturePoint* at = nullptr;
  US_TRY(admit(s, at));
  if (given.bytes() == 0) return Error::Success;
  if (at) {
    if (!async) return runtime().captures().refuse(s, Error::StreamCaptureUnsupported);
    CopyParams p;
    US_TRY(describe(given, kind, p));
    return runtime().captures().add(*at, NodeType::Memcpy, std::move(p));
  }
  if (!given.dst || !given.src) return Error::InvalidValue;
  const Side array{.known = true, .device = true};
  const Side dst = given.dst_array ? array : side_of(given.dst, given.dst_extent(), Writes, given.dst_device);
  const Side src = given.src_array ? array : side_of(given.src, given.src_extent(), Reads, given.src_device);
  US_TRY(check_copy(kind, dst, src));
  Copy c = given;
  c.dst += dst.write_delta;
  const bool waits = !async && (dst.sync || src.sync);
  const bool device_only = dst.device && src.device && !waits;
  SpanRef span = runtime().notes().copy(place_of(s), given);
  if (device_only || (async && !dst.pageable() && !src.pageable()))
    return run_later(
        s, c.bytes(), [c] { run(c); }, std::move(span));
  const bool flat = c.height * c.depth == 1;
  if (async && !dst.pageable() && flat && c.width <= kStaged) {
    auto staged = std::make_shared<std::vector<u8>>(reinterpret_cast<const u8*>(c.src),
                                                    reinterpret_cast<const u8*>(c.src) + c.width);
    c.src = reinterpret_cast<u64>(staged->data());
    return run_later(
        s, c.bytes(), [c, staged] { run(c); }, std::move(span));
  }
  return run_in_order(
      s, [&] { run(c); }, std::move(span));
}

Error Context::fill(const Fill& given, Stream& s, bool async) {
  US_TRY(sticky());
  CapturePoint* at = nullptr;
  US_TRY(admit(s, at));
  if (given.bytes() == 0) return Error::Success;
  if (at) {
    if (!async) return runtime().captures().refuse(s, Error::StreamCaptureUnsupported);
    FillParams p;
    US_TRY(describe(given, p));
    return runtime().captures().add(*at, NodeType::Memset, std::move(p));
  }
  const Side dst = side_of(given.dst, given.extent(), Writes);
  if (!given.dst || !dst.known || !dst.inside || !may_set(given.dst) || given.dst % given.element)
    return Error::InvalidValue;
  Fill f = given;
  f.dst += dst.write_delta;
  SpanRef span = runtime().notes().fill(place_of(s), given);
  if (async || (dst.device && !dst.sync))
    return run_later(
        s, f.bytes(), [f] { run(f); }, std::move(span));
  return run_in_order(
      s, [&] { run(f); }, std::move(span));
}

}  // namespace us::driver
