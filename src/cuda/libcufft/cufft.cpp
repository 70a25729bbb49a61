// SPDX-License-Identifier: Apache-2.0
// The C functions of libcufft.so.12, and of libcufft.so.11 (CUDA 12), which differ in their version only.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdio>

#include "cuda/api.h"
#include "cuda/libcufft/plans.h"

using us::cufft::Advanced;
using us::cufft::Shape;

namespace {

// All ways to describe a transform end here; `use` gets a shape that is right.
template <class Use>
cufftResult simple(int rank, long long x, long long y, long long z, cufftType type, long long batch, Use&& use) {
  const long long n[3] = {x, y, z};
  Shape s;
  const cufftResult r = us::cufft::describe(rank, n, {}, {}, type, batch, s);
  return r == CUFFT_SUCCESS ? use(s) : r;
}

template <class Int, class Use>
cufftResult many(int rank, const Int* n, const Int* in, Int in_stride, Int in_dist, const Int* out, Int out_stride,
                 Int out_dist, cufftType type, Int batch, Use&& use) {
  if (rank < 1 || rank > 3 || !n) return CUFFT_INVALID_VALUE;
  long long sizes[3] = {}, embeds[2][3] = {};
  for (int d = 0; d < rank; ++d) {
    sizes[d] = n[d];
    if (in) embeds[0][d] = in[d];
    if (out) embeds[1][d] = out[d];
  }
  Shape s;
  const cufftResult r = us::cufft::describe(rank, sizes, Advanced{in ? embeds[0] : nullptr, in_stride, in_dist},
                                            Advanced{out ? embeds[1] : nullptr, out_stride, out_dist}, type, batch, s);
  return r == CUFFT_SUCCESS ? use(s) : r;
}

// A new handle with a finished plan; none if the description is wrong.
auto into_new(cufftHandle* out) {
  return [out](const Shape& s) {
    cufftHandle h = 0;
    if (!out) return CUFFT_INVALID_VALUE;
    if (const cufftResult r = us::cufft::create(&h); r != CUFFT_SUCCESS) return r;
    *out = h;
    return us::cufft::make(h, s, nullptr);
  };
}
auto into(cufftHandle plan, size_t* bytes) {
  return [plan, bytes](const Shape& s) { return bytes ? us::cufft::make(plan, s, bytes) : CUFFT_INVALID_VALUE; };
}
// What the types of input, output and arithmetic say together.
struct Kind {
  cufftType type;
  std::optional<us::numerics::Format> narrow = {};
};
std::optional<Kind> kind_of(cudaDataType in, cudaDataType out, cudaDataType arithmetic) {
  constexpr struct {
    cudaDataType real, complex;
    cufftType complex_to_complex, to_complex, to_real;
    std::optional<us::numerics::Format> narrow;
  } kKinds[] = {{CUDA_R_32F, CUDA_C_32F, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, {}},
                {CUDA_R_64F, CUDA_C_64F, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D, {}},
                {CUDA_R_16F, CUDA_C_16F, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, us::numerics::kF16},
                {CUDA_R_16BF, CUDA_C_16BF, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, us::numerics::kBF16}};
  for (const auto& k : kKinds) {
    if (arithmetic != k.real && arithmetic != k.complex) continue;
    if (in == k.complex && out == k.complex) return Kind{k.complex_to_complex, k.narrow};
    if (in == k.real && out == k.complex) return Kind{k.to_complex, k.narrow};
    if (in == k.complex && out == k.real) return Kind{k.to_real, k.narrow};
  }
  return std::nullopt;
}
// Before `use`: numbers in 16 bits have rules of their own.
template <class Use>
auto narrowed(const Kind& kind, Use use) {
  return [kind, use](Shape& s) {
    const cufftResult r = kind.narrow ? us::cufft::describe_narrow(*kind.narrow, s) : CUFFT_SUCCESS;
    return r == CUFFT_SUCCESS ? use(s) : r;
  };
}
auto measured(size_t* bytes) {
  return [bytes](const Shape& s) {
    if (!bytes) return CUFFT_INVALID_VALUE;
    *bytes = s.work_bytes();
    return CUFFT_SUCCESS;
  };
}
bool exists(cufftHandle h) { return us::cufft::find(h) != nullptr; }

}  // namespace

US_API cufftResult cufftCreate(cufftHandle* out) { return us::cufft::create(out); }
US_API cufftResult cufftDestroy(cufftHandle plan) { return us::cufft::destroy(plan); }

US_API cufftResult cufftPlan1d(cufftHandle* plan, int x, cufftType type, int batch) {
  return simple(1, x, 1, 1, type, batch, into_new(plan));
}
US_API cufftResult cufftPlan2d(cufftHandle* plan, int x, int y, cufftType type) {
  return simple(2, x, y, 1, type, 1, into_new(plan));
}
US_API cufftResult cufftPlan3d(cufftHandle* plan, int x, int y, int z, cufftType type) {
  return simple(3, x, y, z, type, 1, into_new(plan));
}
US_API cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist,
                                 int* onembed, int ostride, int odist, cufftType type, int batch) {
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, into_new(plan));
}

US_API cufftResult cufftMakePlan1d(cufftHandle plan, int x, cufftType type, int batch, size_t* bytes) {
  return simple(1, x, 1, 1, type, batch, into(plan, bytes));
}
US_API cufftResult cufftMakePlan2d(cufftHandle plan, int x, int y, cufftType type, size_t* bytes) {
  return simple(2, x, y, 1, type, 1, into(plan, bytes));
}
US_API cufftResult cufftMakePlan3d(cufftHandle plan, int x, int y, int z, cufftType type, size_t* bytes) {
  return simple(3, x, y, z, type, 1, into(plan, bytes));
}
US_API cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist,
                                     int* onembed, int ostride, int odist, cufftType type, int batch, size_t* bytes) {
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, into(plan, bytes));
}
US_API cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                       long long idist, long long* onembed, long long ostride, long long odist,
                                       cufftType type, long long batch, size_t* bytes) {
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, into(plan, bytes));
}

US_API cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                       long long idist, cudaDataType in, long long* onembed, long long ostride,
                                       long long odist, cudaDataType out, long long batch, size_t* bytes,
                                       cudaDataType arithmetic) {
  if (!exists(plan)) return CUFFT_INVALID_PLAN;
  const auto kind = kind_of(in, out, arithmetic);
  if (!kind) return CUFFT_INVALID_TYPE;
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, kind->type, batch,
              narrowed(*kind, into(plan, bytes)));
}
US_API cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                      long long idist, cudaDataType in, long long* onembed, long long ostride,
                                      long long odist, cudaDataType out, long long batch, size_t* bytes,
                                      cudaDataType arithmetic) {
  if (!exists(plan)) return CUFFT_INVALID_PLAN;
  const auto kind = kind_of(in, out, arithmetic);
  if (!kind) return CUFFT_INVALID_TYPE;
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, kind->type, batch,
              narrowed(*kind, measured(bytes)));
}

US_API cufftResult cufftEstimate1d(int x, cufftType type, int batch, size_t* bytes) {
  return simple(1, x, 1, 1, type, batch, measured(bytes));
}
US_API cufftResult cufftEstimate2d(int x, int y, cufftType type, size_t* bytes) {
  return simple(2, x, y, 1, type, 1, measured(bytes));
}
US_API cufftResult cufftEstimate3d(int x, int y, int z, cufftType type, size_t* bytes) {
  return simple(3, x, y, z, type, 1, measured(bytes));
}
US_API cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                                     int odist, cufftType type, int batch, size_t* bytes) {
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, measured(bytes));
}
US_API cufftResult cufftGetSize1d(cufftHandle plan, int x, cufftType type, int batch, size_t* bytes) {
  return exists(plan) ? simple(1, x, 1, 1, type, batch, measured(bytes)) : CUFFT_INVALID_PLAN;
}
US_API cufftResult cufftGetSize2d(cufftHandle plan, int x, int y, cufftType type, size_t* bytes) {
  return exists(plan) ? simple(2, x, y, 1, type, 1, measured(bytes)) : CUFFT_INVALID_PLAN;
}
US_API cufftResult cufftGetSize3d(cufftHandle plan, int x, int y, int z, cufftType type, size_t* bytes) {
  return exists(plan) ? simple(3, x, y, z, type, 1, measured(bytes)) : CUFFT_INVALID_PLAN;
}
US_API cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist,
                                    int* onembed, int ostride, int odist, cufftType type, int batch, size_t* bytes) {
  if (!exists(plan)) return CUFFT_INVALID_PLAN;
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, measured(bytes));
}
US_API cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                      long long idist, long long* onembed, long long ostride, long long odist,
                                      cufftType type, long long batch, size_t* bytes) {
  if (!exists(plan)) return CUFFT_INVALID_PLAN;
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, measured(bytes));
}
US_API cufftResult cufftGetSize(cufftHandle plan, size_t* bytes) {
  const auto p = us::cufft::find(plan);
  if (!p || !p->transform) return CUFFT_INVALID_PLAN;
  return measured(bytes)(p->transform->shape());
}

// Nothing is written to a work area; the calls only have to be legal.
US_API cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
  return exists(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
US_API cufftResult cufftSetAutoAllocation(cufftHandle plan, int on) {
  const auto p = us::cufft::find(plan);
  if (!p) return CUFFT_INVALID_PLAN;
  p->auto_allocation = on != 0;
  return CUFFT_SUCCESS;
}

US_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const auto p = us::cufft::find(plan);
  if (!p) return CUFFT_INVALID_PLAN;
  p->stream = stream;
  return CUFFT_SUCCESS;
}

US_API cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return us::cufft::execute(plan, in, out, direction);
}
US_API cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return us::cufft::execute(plan, in, out, CUFFT_FORWARD);
}
US_API cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return us::cufft::execute(plan, in, out, CUFFT_INVERSE);
}
US_API cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return us::cufft::execute(plan, in, out, direction);
}
US_API cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return us::cufft::execute(plan, in, out, CUFFT_FORWARD);
}
US_API cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return us::cufft::execute(plan, in, out, CUFFT_INVERSE);
}

US_API cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction) {
  return us::cufft::execute(plan, in, out, direction);
}

namespace {
#ifdef US_CUFFT_OLDER
constexpr int kNumbers[] = {11, 4, 1};  // CUDA 12.9
#else
constexpr int kNumbers[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
#endif
}  // namespace

US_API cufftResult cufftGetVersion(int* version) {
  if (!version) return CUFFT_INVALID_VALUE;
  *version = kNumbers[0] * 1000 + kNumbers[1] * 100 + kNumbers[2];
  return CUFFT_SUCCESS;
}
US_API cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (!value) return CUFFT_INVALID_VALUE;
  if (type != MAJOR_VERSION && type != MINOR_VERSION && type != PATCH_LEVEL) return CUFFT_INVALID_TYPE;
  *value = kNumbers[type == MAJOR_VERSION ? 0 : type == MINOR_VERSION ? 1 : 2];
  return CUFFT_SUCCESS;
}

// What is missing says so by its name and CUFFT_NOT_IMPLEMENTED. Any number of arguments may be passed: the caller
// cleans up.
namespace {
cufftResult missing(const char* name) {
  std::fprintf(stderr, "understudy: %s is not implemented\n", name);
  return CUFFT_NOT_IMPLEMENTED;
}
}  // namespace
#define US_MISSING(name)     \
  US_API cufftResult name(); \
  US_API cufftResult name() { return missing(#name); }
US_MISSING(cufftDebug)
US_MISSING(cufftXtClearCallback)
US_MISSING(cufftXtExecDescriptor)
US_MISSING(cufftXtExecDescriptorC2C)
US_MISSING(cufftXtExecDescriptorC2R)
US_MISSING(cufftXtExecDescriptorD2Z)
US_MISSING(cufftXtExecDescriptorR2C)
US_MISSING(cufftXtExecDescriptorZ2D)
US_MISSING(cufftXtExecDescriptorZ2Z)
US_MISSING(cufftXtFree)
US_MISSING(cufftXtMakePlanGuru64)
US_MISSING(cufftXtMalloc)
US_MISSING(cufftXtMemcpy)
US_MISSING(cufftXtQueryPlan)
US_MISSING(cufftXtSetCallback)
US_MISSING(cufftXtSetCallbackSharedSize)
US_MISSING(cufftXtSetGPUs)
US_MISSING(cufftXtSetJITCallback)
US_MISSING(cufftXtSetWorkArea)
US_MISSING(cufftXtSetWorkAreaPolicy)

// Wishes about planning time: kept.
US_API cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty p, const long long value) {
  const auto found = us::cufft::find(plan);
  if (!found) return CUFFT_INVALID_PLAN;
  found->properties[p] = value;
  return CUFFT_SUCCESS;
}
US_API cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty p, long long* value) {
  const auto found = us::cufft::find(plan);
  if (!found) return CUFFT_INVALID_PLAN;
  if (!value) return CUFFT_INVALID_VALUE;
  const auto it = found->properties.find(p);
  *value = it == found->properties.end() ? 0 : it->second;
  return CUFFT_SUCCESS;
}
US_API cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty p) {
  const auto found = us::cufft::find(plan);
  if (!found) return CUFFT_INVALID_PLAN;
  found->properties.erase(p);
  return CUFFT_SUCCESS;
}
