// SPDX-License-Identifier: Apache-2.0
// Operations on their way into a stream, or into the graph that the stream captures.
#include <algorithm>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/graph/graph.h"
#include "driver/green.h"
#include "driver/operation/operation.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// What a kernel node takes along from its stream.
void take_from_stream(KernelOp& k, const Stream& s, Graphs& graphs) {
  if (!k.config.has_priority) k.config.priority = s.priority();
  k.config.has_priority = true;
  keep_stream_attributes(s, k.attributes);
  k.config.begun = {};
  u64* const out = std::exchange(k.config.updatable_out, nullptr);
  if (!out) return;
  k.updatable = graphs.make_updatable();
  *out = reinterpret_cast<u64>(k.updatable.get());
}

Error fit_to(const GreenContext& green, const DeviceSpec& spec, device::Launch& launch) {
  launch.sms = green.sms();
  launch.max_resident_ctas = launch.max_resident_ctas / spec.sms * static_cast<u32>(launch.sms->size());
  const device::Dim3& g = launch.ctx.grid;
  const bool fits = !launch.cooperative || u64{g.x} * g.y * g.z <= launch.max_resident_ctas;
  return fits ? Error::Success : Error::CooperativeLaunchTooLarge;
}

class Submission {
 public:
  Submission(Context& c, Stream& s, bool async)
      : context_(c), runtime_(c.runtime()), executor_(c.executor()), stream_(s), async_(async) {}

  // A kernel that is no good makes the capture invalid, and an asynchronous copy does not.
  Error capture(KernelOp& k, bool& captured) {
    if (const Error e = k.check(context_); failed(e)) return refuse(e, captured);
    KernelOp node = k;  // what was submitted stays whole, for a stream that does not capture any more
    take_from_stream(node, stream_, runtime_.graphs());
    const bool programmatic = node.config.programmatic_serialization;
    return runtime_.captures().add(stream_, std::move(node), captured, programmatic);
  }
  Error capture(CallbackOp&, bool& captured) { return refuse(Error::StreamCaptureUnsupported, captured); }
  template <class Op>
  Error capture(Op& op, bool& captured) {
    if (!async_) return refuse(Error::StreamCaptureUnsupported, captured);
    if constexpr (requires { op.check(context_); }) US_TRY(op.check(context_));
    return runtime_.captures().add(stream_, op, captured);
  }

  Error append(KernelOp& k) {
    if (k.config.updatable_out) return Error::NotSupported;
    if (std::ranges::any_of(k.config.begun, [&](const auto& e) { return &e->context() != &context_; }))
      return Error::InvalidHandle;
    US_TRY(k.check(context_));
    const bool overlaps = k.config.programmatic_serialization;
    US_TRY(k.compile(overlaps));
    auto launch = k.launch({.stream = &stream_}, std::move(k.block));
    if (const GreenContext* const green = stream_.green()) US_TRY(fit_to(*green, context_.device().spec(), *launch));
    if (!k.config.has_priority) launch->record.priority = stream_.priority();
    const NodeRef n = k.node(std::move(launch));
    n->span = k.span(runtime_.spans(), place_of(stream_), *n->launch);
    executor_.throttle();
    std::vector<NodeRef> begun;
    for (const std::shared_ptr<Event>& e : k.config.begun) {
      bool captured = false;
      US_TRY(runtime_.captures().record(*e, stream_, captured));
      begun.push_back(EventRecord{e}.node(executor_));
    }
    using Link = StreamOrder::Link;
    context_.order().append_kernel(stream_, n, overlaps ? Link::Overlapping : Link::Behind, begun);
    return Error::Success;
  }
  template <class Op>
  Error append(Op& op) {
    if constexpr (requires { op.check(context_); }) US_TRY(op.check(context_));
    const NodeRef n = node_of(op);
    n->span = op.span(runtime_.spans(), place_of(stream_));
    if (runtime_.telling()) [[unlikely]]
      tell(*n, op);
    if constexpr (requires { op.run(); })
      if (n->kind == Node::Kind::Caller) return context_.order().run(stream_, n, [&] { op.run(); });
    context_.order().append(stream_, n);
    return Error::Success;
  }

 private:
  // The capture may be over meanwhile: then the operation is work like any other.
  Error refuse(Error because, bool& captured) {
    const Error e = runtime_.captures().refuse(stream_, because);
    captured = failed(e);
    return e;
  }
  template <class Op>
  void tell(Node& n, const Op& op) {
    const Told told(runtime_.registry());
    if constexpr (requires { op.told(told); }) n.told = op.told(told);
  }
  template <class Op>
  NodeRef node_of(const Op& op) {
    if constexpr (requires { op.node(executor_, async_); })
      return op.node(executor_, async_);
    else
      return op.node(executor_);
  }

  Context& context_;
  Runtime& runtime_;
  Executor& executor_;
  Stream& stream_;
  const bool async_;
};

template <class Op>
bool nothing_to_do(const Op& op) {
  if constexpr (requires { op.empty(); })
    return op.empty();
  else
    return false;
}

}  // namespace

Error Context::submit(Operation operation, Stream& s, bool async) {
  US_TRY(sticky());
  bool captured = false;
  US_TRY(runtime().captures().admit(s, captured));
  Submission to(*this, s, async);
  return std::visit(
      [&](auto& op) {
        if (nothing_to_do(op)) return Error::Success;
        if (captured) US_TRY(to.capture(op, captured));
        return captured ? Error::Success : to.append(op);
      },
      operation);
}

}  // namespace us::driver
