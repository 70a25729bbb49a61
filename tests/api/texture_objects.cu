// SPDX-License-Identifier: Apache-2.0
// Making texture and surface objects: which descriptors are accepted, what is reported about an object. What device
// code reads from them is tested in tests/programs.
#include <cstring>

#include "api.h"

static cudaResourceDesc of(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}
static cudaTextureDesc plain() {
  cudaTextureDesc t = {};
  t.readMode = cudaReadModeElementType;
  return t;
}
static void try_one(const char* what, const cudaResourceDesc& r, const cudaTextureDesc& t, const cudaResourceViewDesc* v = nullptr) {
  cudaTextureObject_t o = 0;
  const cudaError_t code = cudaCreateTextureObject(&o, &r, &t, v);
  api::show(what, code);
  if (code == cudaSuccess) MUST(cudaDestroyTextureObject(o));
  cudaGetLastError();
}

int main() {
  const auto f1 = cudaCreateChannelDesc<float>();
  const auto i1 = cudaCreateChannelDesc<int>();
  const auto c4 = cudaCreateChannelDesc<uchar4>();
  cudaArray_t floats, ints, bytes, surface, layered;
  MUST(cudaMallocArray(&floats, &f1, 16, 8));
  MUST(cudaMallocArray(&ints, &i1, 16, 8));
  MUST(cudaMallocArray(&bytes, &c4, 16, 8));
  MUST(cudaMallocArray(&surface, &f1, 16, 8, cudaArraySurfaceLoadStore));
  MUST(cudaMalloc3DArray(&layered, &f1, make_cudaExtent(8, 8, 4), cudaArrayLayered));
  char* linear;
  size_t pitch;
  char* pitched;
  MUST(cudaMalloc(&linear, 1 << 16));
  MUST(cudaMallocPitch(&pitched, &pitch, 100 * 4, 20));

  cudaTextureDesc t = plain();
  try_one("float array, point", of(floats), t);
  t.filterMode = cudaFilterModeLinear;
  try_one("float array, linear", of(floats), t);
  try_one("int array, linear, element type", of(ints), t);
  try_one("byte array, linear, element type", of(bytes), t);
  t.readMode = cudaReadModeNormalizedFloat;
  try_one("byte array, linear, normalised", of(bytes), t);
  try_one("int array, linear, normalised", of(ints), t);
  try_one("float array, linear, normalised", of(floats), t);
  t.filterMode = cudaFilterModePoint;
  try_one("int array, point, normalised", of(ints), t);
  t = plain();
  t.addressMode[0] = static_cast<cudaTextureAddressMode>(7);
  try_one("address mode 7", of(floats), t);
  t = plain();
  t.filterMode = static_cast<cudaTextureFilterMode>(5);
  try_one("filter mode 5", of(floats), t);
  t = plain();
  t.addressMode[0] = cudaAddressModeWrap;
  try_one("wrap without normalised coordinates", of(floats), t);
  t = plain();
  cudaResourceDesc bad = of(floats);
  bad.res.array.array = nullptr;
  try_one("no array", bad, t);
  bad = of(floats);
  bad.resType = static_cast<cudaResourceType>(9);
  try_one("resource type 9", bad, t);

  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = linear;
  r.res.linear.desc = f1;
  r.res.linear.sizeInBytes = 1000;
  try_one("linear", r, t);
  r.res.linear.devPtr = linear + 4;
  try_one("linear, not aligned", r, t);
  r.res.linear.devPtr = linear;
  r.res.linear.sizeInBytes = 0;
  try_one("linear, empty", r, t);
  r.res.linear.sizeInBytes = 1002;
  try_one("linear, odd size", r, t);
  r.res.linear.sizeInBytes = size_t{4} << 30;
  try_one("linear, too many texels", r, t);
  r.res.linear.sizeInBytes = 1000;
  r.res.linear.desc.y = 32, r.res.linear.desc.z = 32;
  try_one("linear, three channels", r, t);
  r.res.linear.desc = f1;
  cudaResourceViewDesc v = {};
  v.format = cudaResViewFormatFloat1;
  v.width = 16;
  v.height = 8;
  try_one("linear with a view", r, t, &v);
  try_one("array with a view", of(floats), t, &v);
  v.format = cudaResViewFormatSignedInt1;
  try_one("array with a view as integers", of(floats), t, &v);
  v.format = cudaResViewFormatFloat2;
  try_one("array with a view of another size", of(floats), t, &v);

  r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = pitched;
  r.res.pitch2D.desc = f1;
  r.res.pitch2D.width = 100;
  r.res.pitch2D.height = 20;
  r.res.pitch2D.pitchInBytes = pitch;
  try_one("pitched", r, t);
  r.res.pitch2D.pitchInBytes = 416;
  try_one("pitched, 416 bytes", r, t);
  r.res.pitch2D.pitchInBytes = 404;
  try_one("pitched, 404 bytes", r, t);
  r.res.pitch2D.pitchInBytes = 384;
  try_one("pitched, rows overlap", r, t);
  r.res.pitch2D.pitchInBytes = pitch;
  r.res.pitch2D.devPtr = pitched + 16;
  try_one("pitched, not aligned", r, t);

  cudaTextureObject_t o = 0;
  cudaResourceDesc ra = of(floats), got = {};
  cudaTextureDesc td = {}, told = {};
  td.addressMode[0] = cudaAddressModeMirror;
  td.addressMode[1] = cudaAddressModeBorder;
  td.filterMode = cudaFilterModeLinear;
  td.normalizedCoords = 1;
  td.borderColor[2] = 2.5f;
  td.maxAnisotropy = 4;
  SHOW(cudaCreateTextureObject(&o, &ra, &td, nullptr));
  VALUE(o != 0);
  SHOW(cudaGetTextureObjectResourceDesc(&got, o));
  VALUE(got.resType);
  VALUE(got.res.array.array == floats);
  SHOW(cudaGetTextureObjectTextureDesc(&told, o));
  VALUE(told.addressMode[0]);
  VALUE(told.addressMode[1]);
  VALUE(told.filterMode);
  VALUE(told.normalizedCoords);
  VALUE(told.borderColor[2] == 2.5f);
  VALUE(told.maxAnisotropy);
  SHOW(cudaGetTextureObjectResourceViewDesc(&v, o));
  SHOW(cudaDestroyTextureObject(o));
  SHOW(cudaDestroyTextureObject(0));
  SHOW(cudaCreateTextureObject(nullptr, &ra, &td, nullptr));

  cudaSurfaceObject_t so = 0;
  cudaResourceDesc rs = of(surface);
  SHOW(cudaCreateSurfaceObject(&so, &rs));
  SHOW(cudaGetSurfaceObjectResourceDesc(&got, so));
  VALUE(got.res.array.array == surface);
  SHOW(cudaDestroySurfaceObject(so));
  SHOW(cudaCreateSurfaceObject(&so, &ra));
  SHOW(cudaCreateSurfaceObject(&so, &r));
  SHOW(cudaDestroySurfaceObject(0));
  SHOW(cudaGetLastError());
  return 0;
}
