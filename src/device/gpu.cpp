// SPDX-License-Identifier: Apache-2.0
#include "device/gpu.h"

#include "device/schedule/machine.h"

namespace us::device {

struct Gpu::Impl {
  Machine machine;
};
Gpu::Gpu(GpuOptions o) : impl_(new Impl{Machine(std::move(o))}) {}
Gpu::~Gpu() = default;
void Gpu::submit(std::unique_ptr<Launch> l) { impl_->machine.submit(std::move(l)); }
bool Gpu::set_malloc_heap(u64 bytes) { return impl_->machine.heap.resize(bytes); }
void Gpu::set_printf_fifo(u64 bytes) { impl_->machine.print.set_capacity(bytes); }
bool Gpu::deterministic() const { return impl_->machine.options.deterministic; }
HostActivity& Gpu::host() { return impl_->machine.clock.host; }
u64 Gpu::busy_ns() const { return impl_->machine.busy_ns(); }
u32 Gpu::workers() const { return impl_->machine.started; }

}  // namespace us::device
