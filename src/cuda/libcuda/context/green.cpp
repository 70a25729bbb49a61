// SPDX-License-Identifier: Apache-2.0
// Green Contexts. Multiprocessors are divided in the order of their numbers, in eights (in twos if that is asked for);
// which of them share a processing cluster is not modelled, so a device may give one part less than here.
#include <algorithm>
#include <bitset>
#include <cstring>
#include <mutex>
#include <numeric>

#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;
using us::u32;
using us::driver::Event;
using us::driver::GreenContext;
using us::driver::SmSet;

struct CUdevResourceDesc_st {
  u32 device = 0;
  std::shared_ptr<const SmSet> sms;
};

namespace {

constexpr u32 kTogether = 8, kSmallest = 2;
constexpr u32 kMark = 0x534d7365;
constexpr std::size_t kMost = 256;

// What a resource's reserved bytes hold.
struct Part {
  u32 mark = kMark, device = 0;
  std::bitset<kMost> sms;
};
static_assert(sizeof(Part) <= sizeof(CUdevResource::_internal_padding));
static_assert(std::is_trivially_copyable_v<Part>);

CUdevResource resource_of(const Part& p, u32 smallest, u32 together) {
  CUdevResource r{};
  if (p.sms.none()) return r;
  r.type = CU_DEV_RESOURCE_TYPE_SM;
  r.sm.smCount = static_cast<unsigned>(p.sms.count());
  r.sm.minSmPartitionSize = smallest;
  r.sm.smCoscheduledAlignment = together;
  std::memcpy(r._internal_padding, &p, sizeof p);
  return r;
}

Error part_of(const CUdevResource& r, Part& out) {
  if (r.type != CU_DEV_RESOURCE_TYPE_SM) return Error::InvalidResourceType;
  std::memcpy(&out, r._internal_padding, sizeof out);
  return out.mark == kMark ? Error::Success : Error::InvalidResourceConfiguration;
}

Part part_of(u32 device, const SmSet& sms) {
  Part p;
  p.device = device;
  for (const u32 n : sms) p.sms.set(n);
  return p;
}

SmSet all_of(u32 ordinal) {
  SmSet all(std::min<std::size_t>(runtime().device(ordinal).spec().sms, kMost));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

SmSet list_of(const Part& p) {
  SmSet list;
  for (u32 i = 0; i < kMost; ++i)
    if (p.sms[i]) list.push_back(i);
  return list;
}

Error tell(u32 device, const SmSet& sms, CUdevResource* out, CUdevResourceType type) {
  if (!out) return Error::InvalidValue;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return Error::InvalidResourceType;
  *out = resource_of(part_of(device, sms), kTogether, kTogether);
  return Error::Success;
}

// f(GreenContext&) → Error
template <class F>
CUresult with_green(CUgreenCtx handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  GreenContext* const g = runtime().find_green(handle);
  return g ? result(f(*g)) : CUDA_ERROR_INVALID_CONTEXT;
}

// f(Context&, Event&, GreenContext* or null) → Error; the context's handle, a green one's too, or null: the current one
template <class F>
CUresult with_event_of(CUcontext handle, CUevent event, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  std::shared_ptr<Event> e;
  Context* c = runtime().find_context(handle);
  GreenContext* const g = handle ? runtime().find_green(handle) : current_green();
  if (!handle)
    if (const Error none = driver_context(c); us::driver::failed(none)) return result(none);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  if (const Error none = find_event(event, e); us::driver::failed(none)) return result(none);
  return result(f(*c, *e, g));
}

// Descriptors are never released by a program: they stay.
CUdevResourceDesc keep(u32 device, SmSet sms) {
  static std::mutex m;  // guards all
  static auto* const all = new std::vector<std::unique_ptr<CUdevResourceDesc_st>>;
  std::lock_guard l(m);
  all->push_back(std::make_unique<CUdevResourceDesc_st>());
  all->back()->device = device;
  all->back()->sms = std::make_shared<const SmSet>(std::move(sms));
  return all->back().get();
}

struct Division {
  u32 size = 0, groups = 0;
};

Error divide(u32 total, unsigned flags, u32 least, Division& out) {
  constexpr unsigned kBoth =
      CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  if ((flags & kBoth) == kBoth) return Error::InvalidValue;
  if (least > total) return Error::InvalidResourceConfiguration;
  const u32 unit = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING ? kSmallest : kTogether;
  out.size = std::min(total, std::max(unit, (least + unit - 1) / unit * unit));
  out.groups = total / out.size;
  return Error::Success;
}

}  // namespace

US_API CUresult cuDeviceGetDevResource(CUdevice d, CUdevResource* out, CUdevResourceType type) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  return result(tell(static_cast<u32>(d), all_of(static_cast<u32>(d)), out, type));
}

US_API CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* out, CUdevResourceType type) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (const GreenContext* g = runtime().find_green(handle))
    return result(tell(g->device().ordinal(), *g->sms(), out, type));
  const Context* const c = runtime().find_context(handle);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  return result(tell(c->device().ordinal(), all_of(c->device().ordinal()), out, type));
}

US_API CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* out, CUdevResourceType type) {
  return with_green(handle, [&](GreenContext& g) { return tell(g.device().ordinal(), *g.sms(), out, type); });
}

US_API CUresult cuDevSmResourceSplitByCount(CUdevResource* out, unsigned* count, const CUdevResource* input,
                                            CUdevResource* rest, unsigned flags, unsigned least) {
  Part whole;
  Division d;
  if (!count || !input) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = part_of(*input, whole); us::driver::failed(e)) return result(e);
  const SmSet all = list_of(whole);
  if (const Error e = divide(static_cast<u32>(all.size()), flags, least, d); us::driver::failed(e)) return result(e);
  if (!out) {
    *count = d.groups;
    return CUDA_SUCCESS;
  }
  *count = std::min(*count, d.groups);
  auto next = all.begin();
  for (unsigned i = 0; i < *count; ++i, next += d.size)
    out[i] = resource_of(part_of(whole.device, {next, next + d.size}), 0, 0);
  if (rest) *rest = resource_of(part_of(whole.device, {next, all.end()}), 0, 0);
  return CUDA_SUCCESS;
}

US_API CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* out, CUdevResource* list, unsigned count) {
  if (!out || !list || count == 0) return CUDA_ERROR_INVALID_VALUE;
  Part all;
  for (unsigned i = 0; i < count; ++i) {
    Part p;
    if (const Error e = part_of(list[i], p); us::driver::failed(e)) return result(e);
    if (i > 0 && (p.device != all.device || (p.sms & all.sms).any())) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    all.device = p.device;
    all.sms |= p.sms;
  }
  *out = keep(all.device, list_of(all));
  return CUDA_SUCCESS;
}

US_API CUresult cuGreenCtxCreate(CUgreenCtx* out, CUdevResourceDesc desc, CUdevice d, unsigned flags) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  const auto ordinal = static_cast<u32>(d);
  if (!out || flags != CU_GREEN_CTX_DEFAULT_STREAM || (desc && desc->device != ordinal))
    return CUDA_ERROR_INVALID_VALUE;
  auto sms = desc ? desc->sms : std::make_shared<const SmSet>(all_of(ordinal));  // none described: the whole device
  GreenContext* made = nullptr;
  if (const Error e = runtime().create_green(ordinal, std::move(sms), made); us::driver::failed(e)) return result(e);
  *out = handle_to<CUgreenCtx>(made);
  return CUDA_SUCCESS;
}

US_API CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return initialized() ? result(runtime().destroy_green(handle)) : CUDA_ERROR_NOT_INITIALIZED;
}

US_API CUresult cuCtxFromGreenCtx(CUcontext* out, CUgreenCtx handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_green(handle, [&](GreenContext& g) {
    *out = handle_to<CUcontext>(&g);
    return Error::Success;
  });
}

US_API CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_green(handle, [&](GreenContext& g) {
    *out = g.id();
    return Error::Success;
  });
}

US_API CUresult cuGreenCtxStreamCreate(CUstream* out, CUgreenCtx handle, unsigned flags, int priority) {
  if (!out || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return with_green(handle, [&](GreenContext& g) {
    const auto& d = g.device().spec();
    Stream& s =
        g.context().create_stream(true, std::clamp(priority, d.stream_priority_greatest, d.stream_priority_least));
    s.set_green(g.shared_from_this());
    *out = handle_to<CUstream>(&s);
    return Error::Success;
  });
}

US_API CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context&, Stream& s) {
    *out = handle_to<CUgreenCtx>(s.green());
    return Error::Success;
  });
}

US_API CUresult cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event) {
  return with_green(handle, [&](GreenContext& g) {
    std::shared_ptr<Event> e;
    US_TRY(find_event(event, e));
    return g.context().record_all(*e, &g);
  });
}
US_API CUresult cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event) {
  return with_green(handle, [&](GreenContext& g) {
    std::shared_ptr<Event> e;
    US_TRY(find_event(event, e));
    return g.context().wait_all(*e, &g);
  });
}
US_API CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
  return with_event_of(handle, event, [](Context& c, Event& e, GreenContext* g) { return c.record_all(e, g); });
}
US_API CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
  return with_event_of(handle, event, [](Context& c, Event& e, GreenContext* g) { return c.wait_all(e, g); });
}
