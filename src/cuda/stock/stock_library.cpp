// SPDX-License-Identifier: Apache-2.0
#include "cuda/stock/stock_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/settings.h"

namespace us::cuda {
namespace {

void add(std::vector<std::string>& list, const std::string& file) {
  for (const std::string& f : list)
    if (f == file) return;
  list.push_back(file);
}

// What the loader searches for this program: LD_LIBRARY_PATH, run paths, the system's directories.
void add_loader_path(std::vector<std::string>& list, const std::string& file) {
  Dl_serinfo head;
  void* self = dlopen(nullptr, RTLD_LAZY);
  if (!self || dlinfo(self, RTLD_DI_SERINFOSIZE, &head) != 0) return;
  std::vector<char> space(head.dls_size);
  auto* info = reinterpret_cast<Dl_serinfo*>(space.data());
  if (dlinfo(self, RTLD_DI_SERINFOSIZE, info) != 0 || dlinfo(self, RTLD_DI_SERINFO, info) != 0) return;
  for (unsigned i = 0; i < info->dls_cnt; ++i) add(list, std::string(info->dls_serpath[i].dls_name) + "/" + file);
}

std::string named(const StockLibrary& l) { return l.setting ? setting_text(l.setting) : std::string(); }

std::vector<std::string> candidates(const StockLibrary& l) {
  std::vector<std::string> list;
  if (std::string file = named(l); !file.empty()) return {std::move(file)};
  add_loader_path(list, l.file);
  std::vector<std::string> homes;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) homes.emplace_back(home);
  for (const std::string& home :
       {std::string("/usr/local/cuda"), std::string("/usr/local/cuda-") + l.major, std::string("/opt/cuda")})
    homes.push_back(home);
  for (const std::string& home : homes)
    for (const char* lib : {"/lib64/", "/lib/"}) add(list, home + lib + l.file);
  return list;
}

bool same_file(const std::string& a, const char* b) {
  struct stat x, y;
  return stat(a.c_str(), &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// The stock library asks the loader for others by name, which a toolkit outside the loader's path does not answer. A
// library that is loaded already does.
void load_beside(const StockLibrary& l, const std::string& file) {
  if (!l.beside) return;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(file).parent_path(), none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(l.beside)) dlopen(entry.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
}

// The one that the program asked for by its path, or that its run path leads to: src/loader answers.
void* open_meant(const StockLibrary& l) {
  if (!named(l).empty()) return nullptr;
  void* const handle =
      dlopen((std::string("understudy-stock:") + l.file).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  link_map* map = nullptr;
  if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) load_beside(l, map->l_name);
  return handle;
}

}  // namespace

// Ours has the same name, and its functions must not answer the stock library's calls to itself.
void* open_stock(const StockLibrary& l) {
  Dl_info own;
  if (!dladdr(reinterpret_cast<void*>(&open_stock), &own)) return nullptr;
  if (void* handle = open_meant(l)) return handle;
  std::string tried;
  for (const std::string& file : candidates(l)) {
    struct stat s;
    if (stat(file.c_str(), &s) != 0 || same_file(file, own.dli_fname)) continue;
    load_beside(l, file);
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) return handle;
    tried += std::string("\n  ") + dlerror();
  }
  if (!l.needed) return nullptr;
  std::fprintf(stderr,
               "understudy: %s, which needs the CUDA toolkit's %s, and it was not found.\n  Install it, or name it in "
               "%s.%s\n",
               l.needed, l.file, l.variable, tried.c_str());
  return nullptr;
}

}  // namespace us::cuda
