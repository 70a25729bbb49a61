// SPDX-License-Identifier: Apache-2.0
// Graphics Interoperability: nothing can be registered (see libcudart/impl_graphics.cpp), so nothing is.
#include "cuda/libcuda/driver_api.h"
#include "driver/memory/array.h"

using namespace us::cuda;

namespace {
CUresult not_registered(bool arguments_valid) {
  return in_current([&](Context&) { return arguments_valid ? Error::InvalidHandle : Error::InvalidValue; });
}
}  // namespace

US_API CUresult cuGraphicsUnregisterResource(CUgraphicsResource) { return not_registered(true); }
US_API CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource, unsigned flags) {
  return not_registered(flags <= 2);
}
US_API CUresult cuGraphicsMapResources(unsigned count, CUgraphicsResource* list, CUstream) {
  return not_registered(count && list);
}
US_PTSZ(cuGraphicsMapResources, (unsigned count, CUgraphicsResource* list, CUstream s), (count, list, s))
US_API CUresult cuGraphicsUnmapResources(unsigned count, CUgraphicsResource* list, CUstream) {
  return not_registered(count && list);
}
US_PTSZ(cuGraphicsUnmapResources, (unsigned count, CUgraphicsResource* list, CUstream s), (count, list, s))
US_API CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr* out, size_t*, CUgraphicsResource) {
  return not_registered(out != nullptr);
}
US_API CUresult cuGraphicsSubResourceGetMappedArray(CUarray* out, CUgraphicsResource, unsigned, unsigned) {
  return not_registered(out != nullptr);
}
US_API CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray* out, CUgraphicsResource) {
  return not_registered(out != nullptr);
}
