// SPDX-License-Identifier: Apache-2.0
// Hand-written kernels: functions of a WarpCtx that do what compiled code does.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <future>

#include "device/gpu.h"

namespace us::device::testing {

struct TestCode : KernelCode {};

// Arguments of a runtime call, the same in all lanes, or set lane by lane.
class Args {
 public:
  Args(std::initializer_list<u64> uniform) {
    u32 k = 0;
    for (u64 v : uniform) set(k++, v);
  }
  void set(u32 arg, u64 v) {
    for (u32 l = 0; l < 32; ++l) values[arg * 32 + l] = v;
  }
  void set_lane(u32 arg, u32 lane, u64 v) { values[arg * 32 + lane] = v; }
  u64 values[6 * 32] = {};
};

inline void call(WarpCtx* w, RtFn fn, const Args& args, u64* results = nullptr, u32 mask = 0) {
  u64 unused[2 * 32];
  w->rt[u32(fn)](w, mask ? mask : w->live, args.values, results ? results : unused);
}
inline u64 call1(WarpCtx* w, RtFn fn, const Args& args, u32 mask = 0) {  // result of the first lane
  u64 results[2 * 32] = {};
  if (!mask) mask = w->live;
  call(w, fn, args, results, mask);
  return results[__builtin_ctz(mask)];
}
inline void sync(WarpCtx* w) { call(w, RtFn::BarSync, {0, 0, 1}); }

template <class P>
P& params(WarpCtx* w) {
  return *reinterpret_cast<P*>(const_cast<u8*>(w->grid->params));
}
inline u8* shared(WarpCtx* w, u32 offset) { return w->window + w->shared_base + offset; }

struct Shape {
  Dim3 grid{1, 1, 1}, block{32, 1, 1}, cluster{1, 1, 1};
  bool yields = true;
  u32 max_resident = 264;
  bool cooperative = false;
  u32 local_bytes = 0;
};

inline std::unique_ptr<Launch> make(void (*run)(WarpCtx*), void* params, const Shape& s,
                                    std::function<void(const Fault&)> done) {
  auto code = std::make_shared<TestCode>();
  code->name = "test_kernel";
  code->run = run;
  code->yields = s.yields;
  code->local_bytes = s.local_bytes;
  code->line_of = [](const void*) { return std::string("test.cu:7"); };
  auto l = std::make_unique<Launch>();
  l->code = code;
  l->ctx.grid = s.grid, l->ctx.block = s.block, l->ctx.cluster = s.cluster;
  l->ctx.params = static_cast<const u8*>(params);
  l->ctx.shared_dynamic = 64 * 1024;  // kernels here take what they like of it
  l->max_resident_ctas = s.max_resident;
  l->cooperative = s.cooperative;
  l->done = std::move(done);
  return l;
}

inline std::future<Fault> start(Gpu& gpu, void (*run)(WarpCtx*), void* params, const Shape& s) {
  auto p = std::make_shared<std::promise<Fault>>();
  gpu.submit(make(run, params, s, [p](const Fault& f) { p->set_value(f); }));
  return p->get_future();
}

inline Fault run(Gpu& gpu, void (*code)(WarpCtx*), void* params, const Shape& s) {
  auto f = start(gpu, code, params, s);
  if (f.wait_for(std::chrono::seconds(120)) != std::future_status::ready) {
    std::fprintf(stderr, "the launch never ended\n");
    std::abort();
  }
  return f.get();
}

// Every test runs with one worker and with several.
class Device : public ::testing::TestWithParam<u32> {
 protected:
  GpuOptions options() {
    GpuOptions o;
    o.workers = GetParam();
    return o;
  }
};
#define US_ALL_WORKERS(suite) INSTANTIATE_TEST_SUITE_P(Workers, suite, ::testing::Values(1u, 2u, 4u))

}  // namespace us::device::testing
