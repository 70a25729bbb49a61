// SPDX-License-Identifier: Apache-2.0
// Sparse matrices, graphs, clusters of points and dynamic programming, as they are commonly written.
#include <algorithm>

#include "common.h"

__global__ void spmv_scalar(const int* first, const int* column, const float* value, const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void spmv_vector(const int* first, const int* column, const float* value, const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void spmv_ell(const int* column, const float* value, const float* x, float* y, int rows, int most) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < most; ++k) {
    const int c = column[k * rows + row];
    if (c >= 0) sum += value[k * rows + row] * x[c];
  }
  y[row] = sum;
}

// 32 columns.
__global__ void spmm(const int* first, const int* column, const float* value, const float* x, float* y) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, c = threadIdx.x;
  float sum = 0;
  for (int k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k] * 32 + c];
  y[row * 32 + c] = sum;
}

__global__ void bfs_step(const int* first, const int* column, int* level, int now, int* changed) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (level[v] != now) return;
  for (int k = first[v]; k < first[v + 1]; ++k)
    if (level[column[k]] < 0) level[column[k]] = now + 1, *changed = 1;
}

__global__ void bfs_queue(const int* first, const int* column, int* level, const int* queue, int many, int* next, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= many) return;
  const int v = queue[i];
  for (int k = first[v]; k < first[v + 1]; ++k)
    if (atomicCAS(level + column[k], -1, 1) == -1) next[atomicAdd(count, 1)] = column[k];
}

__global__ void pagerank_pull(const int* first, const int* column, const float* rank, const float* share, float* out, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = first[v]; k < first[v + 1]; ++k) sum += rank[column[k]] * share[column[k]];
  out[v] = 0.15f / n + 0.85f * sum;
}

__global__ void pagerank_push(const int* first, const int* column, const float* rank, float* out) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x, begin = first[v], end = first[v + 1];
  const float give = end > begin ? rank[v] / (end - begin) : 0;
  for (int k = begin; k < end; ++k) atomicAdd(out + column[k], give);
}

__global__ void triangles(const int* first, const int* column, uint32_t* found, int edges, const int* from) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int u = from[e], v = column[e];
  int i = first[u], j = first[v], count = 0;
  while (i < first[u + 1] && j < first[v + 1]) {
    const int a = column[i], b = column[j];
    count += a == b, i += a <= b, j += b <= a;
  }
  if (count) atomicAdd(found, count);
}

// 8 dimensions.
__global__ void kmeans_assign(const float* points, const float* centers, int* nearest, int n, int many) {
  __shared__ float c[64 * 8];
  for (int k = threadIdx.x; k < many * 8; k += blockDim.x) c[k] = centers[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float p[8], best = 1e30f;
  int which = 0;
#pragma unroll
  for (int d = 0; d < 8; ++d) p[d] = points[d * n + i];
  for (int k = 0; k < many; ++k) {
    float sum = 0;
#pragma unroll
    for (int d = 0; d < 8; ++d) sum += (p[d] - c[k * 8 + d]) * (p[d] - c[k * 8 + d]);
    if (sum < best) best = sum, which = k;
  }
  nearest[i] = which;
}

__global__ void kmeans_update(const float* points, const int* nearest, float* sums, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, k = nearest[i] & 63;
  atomicAdd(counts + k, 1);
  for (int d = 0; d < 8; ++d) atomicAdd(sums + k * 8 + d, points[d * n + i]);
}

// Four nearest, in local memory.
__global__ void neighbours(const float2* queries, const float2* points, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float distance[4] = {1e30f, 1e30f, 1e30f, 1e30f};
  int which[4] = {};
  const float2 q = queries[i];
  for (int k = 0; k < n; ++k) {
    const float dx = points[k].x - q.x, dy = points[k].y - q.y, d = dx * dx + dy * dy;
    if (d >= distance[3]) continue;
    int at = 3;
    while (at > 0 && distance[at - 1] > d) distance[at] = distance[at - 1], which[at] = which[at - 1], --at;
    distance[at] = d, which[at] = k;
  }
  for (int k = 0; k < 4; ++k) out[i * 4 + k] = which[k];
}

__global__ void floyd_warshall(float* d, int n, int k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float through = d[y * n + k] + d[k * n + x];
  if (through < d[y * n + x]) d[y * n + x] = through;
}

__global__ void floyd_block(float* d, int n) {  // the tile on the diagonal, and others as if they were
  __shared__ float s[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  s[ty][tx] = d[y * n + x];
  __syncthreads();
  for (int k = 0; k < 32; ++k) {
    const float through = s[ty][k] + s[k][tx];
    __syncthreads();
    if (through < s[ty][tx]) s[ty][tx] = through;
    __syncthreads();
  }
  d[y * n + x] = s[ty][tx];
}

__global__ void alignment(const char* a, const char* b, int* best, int length) {  // a pair for each CTA, by diagonals
  extern __shared__ int cells[];
  int *before = cells, *last = cells + length + 1, *now = cells + 2 * (length + 1), most = 0;
  for (int i = threadIdx.x; i < 3 * (length + 1); i += blockDim.x) cells[i] = 0;
  const char *mine = a + blockIdx.x * length, *other = b + blockIdx.x * length;
  __syncthreads();
  for (int d = 2; d <= 2 * length; ++d) {
    for (int i = max(1, d - length) + threadIdx.x; i <= min(length, d - 1); i += blockDim.x) {
      const int match = mine[i - 1] == other[d - i - 1] ? 2 : -1;
      const int v = max(max(0, before[i - 1] + match), max(last[i - 1], last[i]) - 1);
      now[i] = v, most = max(most, v);
    }
    __syncthreads();
    int* const old = before;
    before = last, last = now, now = old;
  }
  atomicMax(best + blockIdx.x, most);
}

__global__ void knapsack(const int* in, int* out, int capacity, int weight, int worth) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  out[c] = c >= weight ? max(in[c], in[c - weight] + worth) : in[c];
}

__global__ void cholesky_small(float* all) {  // 8 x 8, a thread each
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x, stride = gridDim.x * static_cast<size_t>(blockDim.x);
  float m[8][8];
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c <= r; ++c) m[r][c] = all[(r * 8 + c) * stride + i] + (r == c ? 10 : 0);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    m[k][k] = sqrtf(m[k][k]);
#pragma unroll
    for (int r = k + 1; r < 8; ++r) m[r][k] /= m[k][k];
#pragma unroll
    for (int c = k + 1; c < 8; ++c)
#pragma unroll
      for (int r = c; r < 8; ++r) m[r][c] -= m[r][k] * m[c][k];
  }
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c <= r; ++c) all[(r * 8 + c) * stride + i] = m[r][c];
}

__global__ void lu_block(float* all, int n) {  // a matrix of 64 x 64 for each CTA of 64
  __shared__ float m[64][65];
  float* mine = all + blockIdx.x * 4096;
  for (int r = 0; r < 64; ++r) m[r][threadIdx.x] = mine[r * 64 + threadIdx.x] + (r == threadIdx.x ? 64 : 0);
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x > k) m[threadIdx.x][k] /= m[k][k];
    __syncthreads();
    if (threadIdx.x > k)
      for (int r = k + 1; r < 64; ++r) m[r][threadIdx.x] -= m[r][k] * m[k][threadIdx.x];
    __syncthreads();
  }
  for (int r = 0; r < 64; ++r) mine[r * 64 + threadIdx.x] = m[r][threadIdx.x];
}

__global__ void union_find(const int* from, const int* to, int* parent) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  int u = from[e], v = to[e];
  for (;;) {
    while (u != parent[u]) u = parent[u];
    while (v != parent[v]) v = parent[v];
    if (u == v) break;
    if (u < v) { const int t = u; u = v, v = t; }
    if (atomicCAS(parent + u, u, v) == u) break;
  }
}

// Particles near.
__global__ void cell_list(const float2* p, const int* first, const int* sorted, float* density, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 me = p[i];
  const int cx = min(static_cast<int>((me.x + 1) * 0.5f * cells), cells - 1), cy = min(static_cast<int>((me.y + 1) * 0.5f * cells), cells - 1);
  float sum = 0;
  for (int y = max(cy - 1, 0); y <= min(cy + 1, cells - 1); ++y)
    for (int x = max(cx - 1, 0); x <= min(cx + 1, cells - 1); ++x)
      for (int k = first[y * cells + x]; k < first[y * cells + x + 1]; ++k) {
        const float2 other = p[sorted[k]];
        const float dx = other.x - me.x, dy = other.y - me.y, h = 1 - (dx * dx + dy * dy) * 1000;
        if (h > 0) sum += h * h * h;
      }
  density[i] = sum;
}

int main() {
  const int n = 131072, most = 24;
  std::vector<int> first(n + 1), columns, from;
  for (int v = 0; v < n; ++v) {
    const int many = next_random() % (2 * most) % most + (next_random() % 64 == 0 ? 100 : 0);
    std::vector<int> mine;
    for (int k = 0; k < many; ++k) mine.push_back(next_random() % 4 ? (v + next_random() % 2000) % n : next_random() % n);
    std::sort(mine.begin(), mine.end());
    for (const int c : mine) columns.push_back(c), from.push_back(v);
    first[v + 1] = static_cast<int>(columns.size());
  }
  const int edges = static_cast<int>(columns.size());
  int* start = filled<int>(n + 1, [&](size_t i) { return first[i]; });
  int* column = filled<int>(edges, [&](size_t i) { return columns[i]; });
  int* source = filled<int>(edges, [&](size_t i) { return from[i]; });
  float *value = floats(edges), *x = floats(4 << 20), *y = zeros<float>(4 << 20);
  spmv_scalar<<<n / 256, 256>>>(start, column, value, x, y);
  spmv_vector<<<n * 32 / 256, 256>>>(start, column, value, x, y);
  int* ell = filled<int>(n * 16, [&](size_t i) { return next_random() % 8 ? static_cast<int>((i + next_random() % 999) % n) : -1; });
  spmv_ell<<<n / 256, 256>>>(ell, x, x, y, n, 16);
  spmm<<<n / 8, dim3(32, 8)>>>(start, column, value, x, y);
  int* level = filled<int>(n, [](size_t) { return next_random() % 3 ? -1 : 0; });
  int *count = zeros<int>(64), *queue = filled<int>(n / 4, [](size_t i) { return static_cast<int>(i * 4); }), *next = zeros<int>(n);
  bfs_step<<<n / 256, 256>>>(start, column, level, 0, count);
  must(cudaMemset(level, 0xff, n * 4), "cudaMemset");
  bfs_queue<<<n / 4 / 128, 128>>>(start, column, level, queue, n / 4, next, count + 1);
  pagerank_pull<<<n / 256, 256>>>(start, column, x, x + n, y, n);
  pagerank_push<<<n / 256, 256>>>(start, column, x, y);
  triangles<<<(edges / 4 + 255) / 256, 256>>>(start, column, zeros<uint32_t>(1), edges / 4, source);
  kmeans_assign<<<(1 << 19) / 256, 256>>>(x, y, zeros<int>(1 << 19), 1 << 19, 64);
  kmeans_update<<<n / 256, 256>>>(x, ell, y, count, n);
  neighbours<<<132, 256>>>(reinterpret_cast<float2*>(x), reinterpret_cast<float2*>(x + 262144), zeros<int>(132 * 1024), 2048);
  floyd_warshall<<<dim3(1024 / 32, 1024 / 8), dim3(32, 8)>>>(x, 1024, 77);
  floyd_block<<<dim3(32, 32), dim3(32, 32)>>>(x, 1024);
  char* text = reinterpret_cast<char*>(filled<char>(264 * 512, [](size_t) { return static_cast<char>(next_random() % 4); }));
  alignment<<<264, 256, 3 * 257 * 4>>>(text, text + 132 * 512, zeros<int>(264), 256);
  knapsack<<<(1 << 21) / 256, 256>>>(reinterpret_cast<int*>(x), reinterpret_cast<int*>(y), 1 << 21, 12345, 7);
  cholesky_small<<<512, 128>>>(x);
  lu_block<<<528, 64>>>(x, 64);
  int* parent = filled<int>(n, [](size_t i) { return static_cast<int>(i); });
  union_find<<<edges / 8 / 256, 256>>>(source, column, parent);
  const int cells = 128, many = 131072;
  std::vector<float> places(2 * many);
  for (float& p : places) p = static_cast<float>(next_random() % 65536) / 32768 - 1;
  std::vector<std::vector<int>> in(cells * cells);
  for (int i = 0; i < many; ++i)
    in[std::min(int((places[2 * i + 1] + 1) * 0.5f * cells), cells - 1) * cells + std::min(int((places[2 * i] + 1) * 0.5f * cells), cells - 1)].push_back(i);
  std::vector<int> begin(1), list;
  for (const auto& c : in) list.insert(list.end(), c.begin(), c.end()), begin.push_back(static_cast<int>(list.size()));
  float* where = filled<float>(places.size(), [&](size_t i) { return places[i]; });
  cell_list<<<many / 128, 128>>>(reinterpret_cast<float2*>(where), filled<int>(begin.size(), [&](size_t i) { return begin[i]; }),
                                 filled<int>(list.size(), [&](size_t i) { return list[i]; }), y, cells);
  return finish();
}
