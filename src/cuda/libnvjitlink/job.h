// SPDX-License-Identifier: Apache-2.0
// One link: inputs become PTX, or stay LTO-IR until the end; linked PTX is what is handed out, also where a cubin is
// expected: cuModuleLoadData takes either.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/libnvjitlink/host_files.h"
#include "cuda/libnvjitlink/options.h"
#include "cuda/libnvjitlink/spare.h"
#include "ir/ir.h"

namespace us::nvjitlink {

struct LtoInput {
  Kind kind;
  std::string data, name;
};

class Job {
 public:
  explicit Job(Options o) : options_(std::move(o)) {}
  Code add(Kind, Bytes data, const char* name);
  Code add_file(Kind, const char* path);
  Code complete();

  const std::string* cubin() const { return done_ && !options_.ptx ? &result_ : nullptr; }
  const std::string* ptx() const { return done_ ? &result_ : nullptr; }
  bool hands_out_ptx() const { return options_.ptx; }
  const std::string& error_log() const { return errors_; }
  const std::string& info_log() const { return infos_; }

 private:
  // `newest`: the highest .target that is taken
  Code add_ptx(std::string text, const std::string& name, u32 newest);
  Code add_fat_binary(Bytes, const std::string& name, bool may_lack_code);
  Code add_object(Bytes, const std::string& name, bool may_lack_code);
  Code add_lto(Kind, Bytes, const std::string& name);
  Code fail(Code, const std::string& text);
  Code link();
  void take_spare();

  Options options_;
  std::vector<std::string> texts_;
  std::vector<std::string> names_;                    // of the inputs that texts_ come from
  std::vector<std::unique_ptr<ir::Module>> modules_;  // of the texts since the last link, which takes them
  std::vector<Spare> spare_;
  std::vector<LtoInput> lto_;
  std::string errors_, infos_, result_;
  bool newer_ = false;  // a text is for devices above the target
  bool done_ = false;
};

// PTX that the stock library makes of LTO-IR. `errors` gets its log.
Code link_lto(const Options&, const std::vector<LtoInput>&, std::string& ptx, std::string& errors);
// The stock library's version, or false if there is none.
bool stock_version(unsigned& major, unsigned& minor);

}  // namespace us::nvjitlink
