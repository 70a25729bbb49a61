// SPDX-License-Identifier: Apache-2.0
// The object cache runs only what this user has written for this key.
#include "codegen/jit/object_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace us::codegen {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<char>;

const std::string kKey = "0123456789abcdef0123456789abcdef", kOther = "01ffffffffffffff0123456789abcdef";

Bytes contents(const fs::path& p) {
  std::ifstream f(p, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(f), {});
}
void write(const fs::path& p, const Bytes& b) {
  std::ofstream f(p, std::ios::binary);
  f.write(b.data(), static_cast<std::streamsize>(b.size()));
}

class ObjectCacheTest : public testing::Test {
 protected:
  ObjectCacheTest() {
    std::string name = (fs::temp_directory_path() / "object_cache.XXXXXX").string();
    base_ = mkdtemp(name.data());
    dir_ = base_ / "parent" / "cache";
    code_.elf.resize(40);
    for (std::size_t k = 0; k < code_.elf.size(); ++k) code_.elf[k] = static_cast<u8>(k * 37);
    code_.yields = true;
    code_.local_bytes = 48;
  }
  ~ObjectCacheTest() override { fs::remove_all(base_); }

  ObjectCache cache() {
    return ObjectCache(dir_.string(), [this](std::string_view text) { told_.emplace_back(text); });
  }
  void store(const std::string& key = kKey) { cache().store(key, code_); }
  bool hit(const std::string& key = kKey) {
    ObjectCode out;
    return cache().load(key, &out);
  }
  fs::path file(const std::string& key = kKey) const { return dir_ / key.substr(0, 2) / (key.substr(2) + ".uso"); }
  static u32 mode(const fs::path& p) {
    struct stat s {};
    EXPECT_EQ(stat(p.c_str(), &s), 0) << p;
    return s.st_mode & 07777;
  }

  fs::path base_, dir_;
  ObjectCode code_;
  std::vector<std::string> told_;
};

TEST_F(ObjectCacheTest, GivesBackWhatWasStored) {
  store();
  ObjectCode out;
  ASSERT_TRUE(cache().load(kKey, &out));
  EXPECT_EQ(out.elf, code_.elf);
  EXPECT_TRUE(out.yields);
  EXPECT_EQ(out.local_bytes, 48u);
  EXPECT_FALSE(out.its || out.whole_cta || out.triggers);
  EXPECT_FALSE(hit(kOther));
}

TEST_F(ObjectCacheTest, OnlyTheUserMayReadAndWrite) {
  const mode_t was = umask(0);
  store();
  umask(was);
  EXPECT_EQ(mode(dir_), 0700u);
  EXPECT_EQ(mode(file().parent_path()), 0700u);
  EXPECT_EQ(mode(file()), 0600u);
}

TEST_F(ObjectCacheTest, AnObjectOfAnotherKeyIsAMiss) {
  store(kOther);
  fs::copy(file(kOther), file());
  EXPECT_FALSE(hit());
}

TEST_F(ObjectCacheTest, EveryFlippedBitIsAMiss) {
  store();
  const Bytes right = contents(file());
  for (std::size_t at = 0; at < right.size() * 8; ++at) {
    Bytes wrong = right;
    wrong[at / 8] = static_cast<char>(wrong[at / 8] ^ (1 << at % 8));
    write(file(), wrong);
    EXPECT_FALSE(hit()) << "bit " << at;
  }
  write(file(), right);
  EXPECT_TRUE(hit());
}

TEST_F(ObjectCacheTest, EveryOtherLengthIsAMiss) {
  store();
  const Bytes right = contents(file());
  for (std::size_t n = 0; n <= right.size() + 1; ++n) {
    Bytes wrong = right;
    wrong.resize(n);
    write(file(), wrong);
    EXPECT_EQ(hit(), n == right.size()) << n << " bytes";
  }
}

TEST_F(ObjectCacheTest, WhatOthersMayWriteIsNotUsed) {
  for (const fs::path& p : {dir_, file().parent_path()}) {
    told_.clear();
    store();
    ASSERT_TRUE(hit());
    chmod(p.c_str(), 0770);
    const ObjectCache c = cache();
    ObjectCode out;
    EXPECT_FALSE(c.load(kKey, &out)) << p;
    EXPECT_FALSE(c.load(kKey, &out)) << p;
    c.store(kOther, code_);
    EXPECT_FALSE(fs::exists(file(kOther))) << p;
    ASSERT_EQ(told_.size(), 1u) << "told once";
    EXPECT_NE(told_[0].find(p.string() + " is not used: others may write there"), std::string::npos) << told_[0];
    chmod(p.c_str(), 0700);
  }
  store();
  chmod(file().c_str(), 0666);
  EXPECT_FALSE(hit());
}

TEST_F(ObjectCacheTest, WhatBelongsToAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (const fs::path& p : {dir_, file().parent_path(), file()}) {
    told_.clear();
    store();
    ASSERT_TRUE(hit());
    ASSERT_EQ(chown(p.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(hit()) << p;
    EXPECT_EQ(told_.size(), p == file() ? 0u : 1u);
    ASSERT_EQ(chown(p.c_str(), 0, 0), 0);
  }
}

TEST_F(ObjectCacheTest, LinksAreNotFollowed) {
  store();
  const fs::path elsewhere = base_ / "elsewhere";
  fs::rename(file(), elsewhere);
  fs::create_symlink(elsewhere, file());
  EXPECT_FALSE(hit());
  const Bytes before = contents(elsewhere);
  store();  // replaces the link, not what it points to
  EXPECT_FALSE(fs::is_symlink(file()));
  EXPECT_EQ(contents(elsewhere), before);
  EXPECT_TRUE(hit());
  for (const fs::path& p : {file().parent_path(), dir_}) {
    fs::rename(p, elsewhere.string() + "dir");
    fs::create_directory_symlink(elsewhere.string() + "dir", p);
    EXPECT_FALSE(hit()) << p;
    fs::remove(p);
    fs::rename(elsewhere.string() + "dir", p);
  }
  EXPECT_TRUE(hit());
}

TEST_F(ObjectCacheTest, AFileLaidAsideUnderTheProcessIdIsNotWrittenThrough) {
  store();
  fs::remove(file());
  const fs::path victim = base_ / "victim";
  write(victim, {'k', 'e', 'e', 'p'});
  fs::create_symlink(victim, file().string() + "." + std::to_string(getpid()) + ".tmp");
  store();
  EXPECT_EQ(contents(victim), (Bytes{'k', 'e', 'e', 'p'}));
  EXPECT_TRUE(hit());
}

// Each fact that decides the code is compared, and part of the key.
TEST(CodeFacts, EachOneCounts) {
  std::vector<Variant> launches(10);
  launches[1].block.x = launches[2].block.y = launches[3].block.z = 32;
  launches[4].cluster.x = launches[5].cluster.y = launches[6].cluster.z = 2;
  launches[7].asks = launches[8].usual_space = launches[9].dependent = true;
  std::vector<Options> processes(7);
  processes[1].force_varying = processes[2].force_its = processes[3].deferred_copies = processes[4].fast_math = true;
  processes[5].many_blocks = 1;
  processes[6].disabled.add(Pass::Dead);
  std::vector<CodeFacts> facts;
  std::set<std::string> keys;
  ir::Module m;
  for (const Variant& v : launches)
    for (const Options& o : processes) {
      facts.emplace_back(v, o);
      keys.insert(cache_key(m, "k", v, o, "cpu"));
    }
  EXPECT_EQ(keys.size(), facts.size());
  for (std::size_t a = 0; a < facts.size(); ++a)
    for (std::size_t b = 0; b < facts.size(); ++b) EXPECT_EQ(facts[a] == facts[b], a == b) << a << ", " << b;
}

}  // namespace
}  // namespace us::codegen
