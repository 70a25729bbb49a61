// SPDX-License-Identifier: Apache-2.0
// Memory Management: variables of the program by their host name.
#include "cuda/code/registration.h"
#include "cuda/libcudart/memory/copies.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/code/module.h"

using namespace us::cuda;
using us::driver::CopyKind;
using us::driver::Variable;

namespace {

Error find(Context& c, const void* symbol, Variable& v) {
  US_TRY(c.sticky());
  return registration().variable(c, symbol, v);
}

// The part [offset, offset + n) of a variable.
Error part(Context& c, const void* symbol, size_t n, size_t offset, us::u64& at) {
  Variable v;
  US_TRY(find(c, symbol, v));
  if (offset > v.size || n > v.size - offset) return Error::InvalidValue;
  at = v.address + offset;
  return Error::Success;
}

}  // namespace

Error us::cuda::symbol_part(Context& c, const void* symbol, size_t n, size_t offset, us::u64& at) {
  return part(c, symbol, n, offset, at);
}

namespace {

cudaError_t to_symbol(const void* symbol, const void* src, size_t n, size_t offset, cudaMemcpyKind kind,
                      cudaStream_t stream, bool async) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return done(Error::InvalidMemcpyDirection);
  return in_stream(stream, [&](Context& c, Stream& s) {
    us::u64 at = 0;
    US_TRY(part(c, symbol, n, offset, at));
    return c.submit(CopyOp{{.dst = at, .src = address(src), .width = n}, static_cast<CopyKind>(kind)}, s, async);
  });
}

cudaError_t from_symbol(void* dst, const void* symbol, size_t n, size_t offset, cudaMemcpyKind kind,
                        cudaStream_t stream, bool async) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return done(Error::InvalidMemcpyDirection);
  return in_stream(stream, [&](Context& c, Stream& s) {
    us::u64 at = 0;
    US_TRY(part(c, symbol, n, offset, at));
    return c.submit(CopyOp{{.dst = address(dst), .src = at, .width = n}, static_cast<CopyKind>(kind)}, s, async);
  });
}

}  // namespace

US_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t n, size_t offset,
                                      cudaMemcpyKind kind) {
  return to_symbol(symbol, src, n, offset, kind, nullptr, false);
}
US_PTDS(cudaMemcpyToSymbol, (const void* symbol, const void* src, size_t n, size_t offset, cudaMemcpyKind kind),
        (symbol, src, n, offset, kind))

US_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t n, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t s) {
  return to_symbol(symbol, src, n, offset, kind, s, true);
}
US_PTSZ(cudaMemcpyToSymbolAsync,
        (const void* symbol, const void* src, size_t n, size_t offset, cudaMemcpyKind kind, cudaStream_t s),
        (symbol, src, n, offset, kind, s))

US_API cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t n, size_t offset, cudaMemcpyKind kind) {
  return from_symbol(dst, symbol, n, offset, kind, nullptr, false);
}
US_PTDS(cudaMemcpyFromSymbol, (void* dst, const void* symbol, size_t n, size_t offset, cudaMemcpyKind kind),
        (dst, symbol, n, offset, kind))

US_API cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t n, size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t s) {
  return from_symbol(dst, symbol, n, offset, kind, s, true);
}
US_PTSZ(cudaMemcpyFromSymbolAsync,
        (void* dst, const void* symbol, size_t n, size_t offset, cudaMemcpyKind kind, cudaStream_t s),
        (dst, symbol, n, offset, kind, s))

US_API cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    Variable v;
    US_TRY(find(c, symbol, v));
    *out = pointer(v.address);
    return Error::Success;
  });
}

US_API cudaError_t cudaGetSymbolSize(size_t* out, const void* symbol) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    Variable v;
    US_TRY(find(c, symbol, v));
    *out = v.size;
    return Error::Success;
  });
}
