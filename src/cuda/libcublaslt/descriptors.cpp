// SPDX-License-Identifier: Apache-2.0
// Descriptions and their attributes, handles, versions, and what algorithms there are: one.
#include "cuda/libcublaslt/descriptors.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "cuda/libcublas/handle.h"

using namespace us::cublaslt;

namespace {

constexpr auto kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr auto kWrong = CUBLAS_STATUS_INVALID_VALUE;

struct Field {
  int attribute;
  size_t place, bytes;
};
#define US_FIELD(attribute, T, member) \
  { attribute, offsetof(T, member), sizeof(T::member) }

constexpr Field kLayout[] = {
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, columns),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_LD, Layout, ld),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, count),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, stride),
    US_FIELD(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane),
    US_FIELD(8, Layout, batch_mode),  // CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, which CUDA 12 has not
};
constexpr Field kOperation[] = {
    US_FIELD(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, Operation, compute),
    US_FIELD(CUBLASLT_MATMUL_DESC_SCALE_TYPE, Operation, scale_type),
    US_FIELD(CUBLASLT_MATMUL_DESC_POINTER_MODE, Operation, pointers),
    US_FIELD(CUBLASLT_MATMUL_DESC_TRANSA, Operation, op_a),
    US_FIELD(CUBLASLT_MATMUL_DESC_TRANSB, Operation, op_b),
    US_FIELD(CUBLASLT_MATMUL_DESC_TRANSC, Operation, op_c),
    US_FIELD(CUBLASLT_MATMUL_DESC_FILL_MODE, Operation, fill),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, Operation, epilogue),
    US_FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, Operation, bias),
    US_FIELD(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, Operation, bias_stride),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, Operation, aux),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, Operation, aux_ld),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, Operation, aux_stride),
    US_FIELD(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, Operation, alpha_stride),
    US_FIELD(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, Operation, multiprocessors),
    US_FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, Operation, scale_a),
    US_FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, Operation, scale_b),
    US_FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, Operation, scale_c),
    US_FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, Operation, scale_d),
    US_FIELD(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, Operation, largest_d),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, Operation, aux_type),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, Operation, scale_aux),
    US_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, Operation, largest_aux),
    US_FIELD(CUBLASLT_MATMUL_DESC_FAST_ACCUM, Operation, fast),
    US_FIELD(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, Operation, bias_type),
    {31, offsetof(Operation, scale_modes), 4},  // CUBLASLT_MATMUL_DESC_A_SCALE_MODE and those behind it
    {32, offsetof(Operation, scale_modes) + 4, 4},
    {33, offsetof(Operation, scale_modes) + 8, 4},
    {34, offsetof(Operation, scale_modes) + 12, 4},
    {35, offsetof(Operation, scale_modes) + 16, 4},
    US_FIELD(36, Operation, scale_d_out),
    {37, offsetof(Operation, scale_modes) + 20, 4},
    US_FIELD(38, Operation, emulation),
};
constexpr Field kTransform[] = {
    US_FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, Transform, scale_type),
    US_FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, Transform, pointers),
    US_FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, Transform, op_a),
    US_FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, Transform, op_b),
};
constexpr Field kPreference[] = {
    US_FIELD(CUBLASLT_MATMUL_PREF_SEARCH_MODE, Preference, search),
    US_FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference, workspace),
    US_FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, reduction),
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, offsetof(Preference, alignments), 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, offsetof(Preference, alignments) + 4, 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, offsetof(Preference, alignments) + 8, 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, offsetof(Preference, alignments) + 12, 4},
    US_FIELD(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, Preference, waves),
    US_FIELD(CUBLASLT_MATMUL_PREF_IMPL_MASK, Preference, implementations),
};
constexpr Field kAlgorithm[] = {
    US_FIELD(CUBLASLT_ALGO_CONFIG_ID, Algorithm, id),
    {CUBLASLT_ALGO_CONFIG_TILE_ID, offsetof(Algorithm, settings), 4},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, offsetof(Algorithm, settings) + 4, 4},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, offsetof(Algorithm, settings) + 8, 4},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, offsetof(Algorithm, settings) + 12, 4},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, offsetof(Algorithm, settings) + 16, 4},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, offsetof(Algorithm, settings) + 20, 4},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, offsetof(Algorithm, settings) + 24, 2},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, offsetof(Algorithm, settings) + 28, 2},
};

template <size_t N>
const Field* find(const Field (&table)[N], int attribute) {
  for (const Field& f : table)
    if (f.attribute == attribute) return &f;
  return nullptr;
}
template <class Opaque, size_t N>
cublasStatus_t set(Opaque* to, const Field (&table)[N], int attribute, const void* from, size_t bytes) {
  const Field* const f = find(table, attribute);
  if (!to || !from || !f || bytes != f->bytes) return kWrong;
  std::memcpy(reinterpret_cast<char*>(to) + f->place, from, bytes);
  return kSuccess;
}
template <class Opaque, size_t N>
cublasStatus_t get(const Opaque* from, const Field (&table)[N], int attribute, void* to, size_t bytes,
                   size_t* written) {
  const Field* const f = find(table, attribute);
  if (!from || !f || (!bytes && !written) || (bytes && (!to || bytes != f->bytes))) return kWrong;
  if (written) *written = f->bytes;
  if (bytes) std::memcpy(to, reinterpret_cast<const char*>(from) + f->place, bytes);
  return kSuccess;
}

template <class Opaque, class T>
cublasStatus_t init(Opaque* to, size_t bytes, const T& value) {
  if (!to || bytes < sizeof(T)) return kWrong;
  std::memset(to, 0, bytes < sizeof(Opaque) ? bytes : sizeof(Opaque));
  new (to) T(value);
  return kSuccess;
}
template <class Opaque, class T>
cublasStatus_t create(Opaque** out, const T& value) {
  if (!out) return kWrong;
  *out = new Opaque;
  return init(*out, sizeof(Opaque), value);
}
template <class Opaque>
cublasStatus_t destroy(Opaque* p) {
  if (!p) return kWrong;
  delete p;
  return kSuccess;
}

Layout layout(cudaDataType type, uint64_t rows, uint64_t columns, int64_t ld) {
  Layout l{};
  l.type = type, l.rows = rows, l.columns = columns, l.ld = ld;
  return l;
}
Operation operation(cublasComputeType_t compute, cudaDataType scale) {
  Operation o{};
  o.compute = compute, o.scale_type = scale;
  return o;
}
Transform transform(cudaDataType scale) {
  Transform t{};
  t.scale_type = scale;
  return t;
}

#ifdef US_OLDER_LIBRARY
constexpr int kNumbers[] = {12, 9, 1};  // CUDA 12.9
#else
constexpr int kNumbers[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
#endif

}  // namespace

struct cublasLtContext {};

US_API cublasStatus_t cublasLtCreate(cublasLtHandle_t* out) {
  if (!out) return kWrong;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *out = new cublasLtContext;
  return kSuccess;
}
US_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete h;
  return kSuccess;
}
US_API size_t cublasLtGetVersion() {
  return static_cast<size_t>(kNumbers[0] * 10000 + kNumbers[1] * 100 + kNumbers[2]);
}
US_API size_t cublasLtGetCudartVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<size_t>(version);
}
US_API cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  if (!value || (type != MAJOR_VERSION && type != MINOR_VERSION && type != PATCH_LEVEL)) return kWrong;
  *value = kNumbers[type == MAJOR_VERSION ? 0 : type == MINOR_VERSION ? 1 : 2];
  return kSuccess;
}
US_API const char* cublasLtGetStatusName(cublasStatus_t status) { return us::cublas::status_name(status); }
US_API const char* cublasLtGetStatusString(cublasStatus_t status) { return us::cublas::status_text(status); }
// There is nothing to cache, and nothing is logged.
US_API cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (!capacity) return kWrong;
  *capacity = 0;
  return kSuccess;
}
US_API cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t) { return kSuccess; }
US_API unsigned cublasLtDisableCpuInstructionsSetMask(unsigned) { return 0; }
US_API cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) { return kSuccess; }
US_API cublasStatus_t cublasLtLoggerSetFile(FILE*) { return kSuccess; }
US_API cublasStatus_t cublasLtLoggerOpenFile(const char*) { return kSuccess; }
US_API cublasStatus_t cublasLtLoggerSetLevel(int) { return kSuccess; }
US_API cublasStatus_t cublasLtLoggerSetMask(int) { return kSuccess; }
US_API cublasStatus_t cublasLtLoggerForceDisable() { return kSuccess; }

// US_DESCRIPTION(name, table, handle, attributes, initial value, parameters)
#define US_DESCRIPTION(Name, table, Handle, Attribute, value, comma, ...)                                              \
  US_API cublasStatus_t cublasLt##Name##Init_internal(Handle p, size_t bytes comma __VA_ARGS__) {                      \
    return init(p, bytes, value);                                                                                      \
  }                                                                                                                    \
  US_API cublasStatus_t cublasLt##Name##Create(Handle* out comma __VA_ARGS__) { return create(out, value); }           \
  US_API cublasStatus_t cublasLt##Name##Destroy(Handle p) { return destroy(p); }                                       \
  US_API cublasStatus_t cublasLt##Name##SetAttribute(Handle p, Attribute a, const void* from, size_t bytes) {          \
    return set(p, table, a, from, bytes);                                                                              \
  }                                                                                                                    \
  US_API cublasStatus_t cublasLt##Name##GetAttribute(Handle p, Attribute a, void* to, size_t bytes, size_t* written) { \
    return get(p, table, a, to, bytes, written);                                                                       \
  }
#define US_COMMA ,
US_DESCRIPTION(MatrixLayout, kLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
               layout(type, rows, columns, ld), US_COMMA, cudaDataType type, uint64_t rows, uint64_t columns,
               int64_t ld)
US_DESCRIPTION(MatmulDesc, kOperation, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, operation(compute, scale),
               US_COMMA, cublasComputeType_t compute, cudaDataType scale)
US_DESCRIPTION(MatrixTransformDesc, kTransform, cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t,
               transform(scale), US_COMMA, cudaDataType scale)
US_DESCRIPTION(MatmulPreference, kPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
               Preference{}, , )

US_API cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* p,
                                                           cublasLtMatmulAlgoConfigAttributes_t a, const void* from,
                                                           size_t bytes) {
  return a == CUBLASLT_ALGO_CONFIG_ID ? kWrong : set(p, kAlgorithm, a, from, bytes);
}
US_API cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* p,
                                                           cublasLtMatmulAlgoConfigAttributes_t a, void* to,
                                                           size_t bytes, size_t* written) {
  return get(p, kAlgorithm, a, to, bytes, written);
}
US_API cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t h, cublasComputeType_t, cudaDataType, cudaDataType,
                                               cudaDataType, cudaDataType, cudaDataType, int wanted, int ids[],
                                               int* found) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (wanted < 1 || !ids) return kWrong;
  ids[0] = 0;
  if (found) *found = 1;
  return kSuccess;
}
US_API cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t h, cublasComputeType_t, cudaDataType, cudaDataType,
                                             cudaDataType, cudaDataType, cudaDataType, int id,
                                             cublasLtMatmulAlgo_t* algorithm) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  return id ? kWrong : init(algorithm, sizeof(*algorithm), Algorithm{});
}
