// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/clocks.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace us::sanitizer {
namespace {

constexpr u32 kMaxDepth = 128;  // of a chain of nodes, before it is looked up flat

PartRef joined(const PartRef& a, const PartRef& b) {
  if (a == b || a->covers(*b)) return a;
  if (b->covers(*a)) return b;
  auto both = std::make_shared<Part>(*a);
  both->join(*b);
  return both;
}

bool plain(const Node& n) { return n.parents.empty() && !n.is_flat && n.own; }
// Few CTAs, as in a cluster: a list of them is shorter than a chain of who told whom.
constexpr std::size_t kFew = 16;
bool few(const Node& n) { return n.is_flat ? n.flat.size() <= kFew : plain(n); }

// Both lists are sorted by CTA.
void merge(std::vector<PartRef>& to, const PartRef* from, std::size_t count) {
  std::size_t at = 0;
  for (; count; from++, count--) {
    while (at < to.size() && to[at]->cta < (*from)->cta) at++;
    if (at < to.size() && to[at]->cta == (*from)->cta)
      to[at] = joined(to[at], *from);
    else
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), *from);
  }
}
void merge(std::vector<PartRef>& to, const Node& n) {
  n.is_flat ? merge(to, n.flat.data(), n.flat.size()) : merge(to, &n.own, 1);
}

bool has_pushed(const Node& n) {
  return std::any_of(n.pushed.begin(), n.pushed.end(), [](const Ref& r) { return r != nullptr; });
}
void join_pushed(Node& n, const Node& a, const Node& b) {
  for (u32 i = 0; i < kPushed; i++) n.pushed[i] = join(a.pushed[i], b.pushed[i]);
}

}  // namespace

bool Part::knows(u32 slot, u32 lane, Clock c) const {
  if (floor_knows(slot, c)) return true;
  if (lanes_.empty()) return false;
  const u32 key = slot << 5 | (lane & 31);
  auto at = std::lower_bound(lanes_.begin(), lanes_.end(), key, [](const Lane& l, u32 k) { return l.key < k; });
  if (lane != kEveryLane) return at != lanes_.end() && at->key == key && at->clock > c;
  for (; at != lanes_.end() && at->key >> 5 == slot; ++at) {
    if (at->clock > c) return true;  // what all lanes did together is known from each of them
  }
  return false;
}

void Part::raise(u32 slot, Clock c) {
  if (slot >= floor_.size()) floor_.resize(slot + 1, 0);
  if (floor_[slot] >= c) return;
  floor_[slot] = c;
  if (!lanes_.empty()) tidy();
}

void Part::raise_lane(u32 slot, u32 lane, Clock c) {
  if (slot < floor_.size() && floor_[slot] >= c) return;
  const u32 key = slot << 5 | lane;
  const auto place = [this](u32 k) {
    return std::lower_bound(lanes_.begin(), lanes_.end(), k, [](const Lane& l, u32 of) { return l.key < of; });
  };
  auto at = place(key);
  if (at != lanes_.end() && at->key == key) {
    at->clock = std::max(at->clock, c);
  } else {
    lanes_.insert(at, {key, c});
  }
  const auto first = place(slot << 5);
  if (lanes_.end() - first >= 32 && first[31].key == (slot << 5 | 31)) tidy();  // all lanes of the slot are there
}

// Lanes that their floor knows go; 32 lanes of a slot raise its floor.
void Part::tidy() {
  for (std::size_t i = 0; i + 32 <= lanes_.size(); i++) {
    if (lanes_[i].key & 31 || lanes_[i + 31].key != (lanes_[i].key | 31)) continue;
    Clock least = ~0u;
    for (std::size_t k = i; k < i + 32; k++) least = std::min(least, lanes_[k].clock);
    const u32 slot = lanes_[i].key >> 5;
    if (slot >= floor_.size()) floor_.resize(slot + 1, 0);
    floor_[slot] = std::max(floor_[slot], least);
    i += 31;
  }
  std::erase_if(lanes_, [&](const Lane& l) { return floor(l.key >> 5) >= l.clock; });
}

void Part::join_floors(const Part& o) {
  if (floor_ == o.floor_) return;
  if (floor_.size() < o.floor_.size()) floor_.resize(o.floor_.size(), 0);
  for (std::size_t i = 0; i < o.floor_.size(); i++) floor_[i] = std::max(floor_[i], o.floor_[i]);
}

void Part::join(const Part& o) {
  join_floors(o);
  if (lanes_.empty() && o.lanes_.empty()) return;
  std::vector<Lane> both;
  both.reserve(lanes_.size() + o.lanes_.size());
  auto mine = lanes_.begin();
  for (const Lane& l : o.lanes_) {
    for (; mine != lanes_.end() && mine->key < l.key; ++mine) both.push_back(*mine);
    both.push_back(l);
    if (mine == lanes_.end() || mine->key != l.key) continue;
    both.back().clock = std::max(l.clock, mine->clock);
    ++mine;
  }
  both.insert(both.end(), mine, lanes_.end());
  lanes_ = std::move(both);
  tidy();
}

bool Part::covers(const Part& o) const {
  for (u32 i = 0; i < o.floor_.size(); i++) {
    if (floor(i) < o.floor_[i]) return false;
  }
  for (const Lane& l : o.lanes_) {
    if (!knows(l.key >> 5, l.key & 31, l.clock - 1)) return false;
  }
  return true;
}

// Chains are taken apart in a loop: their length is bounded only where they are made.
Node::~Node() {
  std::vector<Ref> rest = std::move(parents);
  while (!rest.empty()) {
    Ref n = std::move(rest.back());
    rest.pop_back();
    if (!n || n.use_count() > 1) continue;
    for (Ref& p : n->parents) rest.push_back(std::move(p));
    n->parents.clear();
  }
}

void Node::flatten() const {
  if (is_flat) return;
  // Others rest on a long chain, too: once flat, it is short for them.
  for (const Ref& p : parents) {
    if (depth > kMaxDepth && p->depth > kMaxDepth / 2) p->flatten();
  }
  std::map<u64, PartRef> all;
  const auto add = [&](const PartRef& p) {
    if (!p) return;
    PartRef& have = all[p->cta];
    have = have ? joined(have, p) : p;
  };
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> open{this};
  while (!open.empty()) {
    const Node* n = open.back();
    open.pop_back();
    if (!seen.insert(n).second) continue;
    add(n->own);
    for (const PartRef& p : n->flat) add(p);
    for (const Ref& p : n->parents) open.push_back(p.get());
  }
  for (auto& [cta, part] : all) flat.push_back(std::move(part));
  is_flat = true, depth = 0;
  const std::vector<Ref> done = std::move(parents);
  parents.clear();
}

const Part* Node::of(u64 cta) const {
  if (own && parents.empty() && !is_flat) return own->cta == cta ? own.get() : nullptr;
  flatten();
  auto at = std::lower_bound(flat.begin(), flat.end(), cta, [](const PartRef& p, u64 c) { return p->cta < c; });
  return at != flat.end() && (*at)->cta == cta ? at->get() : nullptr;
}

bool Node::knows(const Point& p) const {
  if (own && own->cta == p.cta && own->knows(p.slot, p.lane, p.clock)) return true;
  const Part* part = of(p.cta);
  return part && part->knows(p.slot, p.lane, p.clock);
}

Ref join(const Ref& a, const Ref& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  if (plain(*a) && plain(*b) && a->own->cta == b->own->cta) {
    PartRef both = joined(a->own, b->own);
    if (both == a->own && !has_pushed(*b)) return a;
    if (both == b->own && !has_pushed(*a)) return b;
    auto n = std::make_shared<Node>();
    n->own = std::move(both);
    join_pushed(*n, *a, *b);
    return n;
  }
  if (few(*a) && few(*b)) {
    std::vector<PartRef> all;
    merge(all, *a);
    const std::vector<PartRef> of_a = all;
    merge(all, *b);
    if (all == of_a && !has_pushed(*b)) return a;
    const bool is_b = b->is_flat ? all == b->flat : all.size() == 1 && all[0] == b->own;
    if (is_b && !has_pushed(*a)) return b;
    auto n = std::make_shared<Node>();
    n->flat = std::move(all), n->is_flat = true;
    join_pushed(*n, *a, *b);
    return n;
  }
  for (const Ref& p : a->parents) {
    if (p == b) return a;
  }
  for (const Ref& p : b->parents) {
    if (p == a) return b;
  }
  auto n = std::make_shared<Node>();
  n->parents = {a, b};
  join_pushed(*n, *a, *b);
  n->depth = std::max(a->depth, b->depth) + 1;
  if (n->depth > kMaxDepth) n->flatten();
  return n;
}

// Proxies that were told together mostly know the same.
void join(Pushes& to, const Pushes& from) {
  const bool alike = to[kShared] == to[kMbarrierInit] && from[kShared] == from[kMbarrierInit];
  for (u32 i = 0; i < kPushed; i++) {
    if (from[i] && !(alike && i == kMbarrierInit)) to[i] = join(to[i], from[i]);
  }
  if (alike) to[kMbarrierInit] = to[kShared];
}

bool View::knows(const Point& p) const {
  if (p.cta == own.cta && own.knows(p.slot, p.lane, p.clock)) return true;
  return far && far->knows(p);
}

bool View::knows_of(u64 cta) const {
  if (cta == own.cta) return true;
  const Part* part = far ? far->of(cta) : nullptr;
  return part && !part->empty();
}

bool View::empty() const {
  if (!own.empty() || far) return false;
  return std::all_of(pushed.begin(), pushed.end(), [](const Ref& r) { return !r; });
}

void View::join(const View& o) {
  own.join(o.own);
  far = sanitizer::join(far, o.far);
  sanitizer::join(pushed, o.pushed);
}

void View::join(const Ref& n) {
  if (!n) return;
  const bool mine = n->own && n->own->cta == own.cta;
  if (mine) own.join(*n->own);
  if (n->is_flat) {
    if (const Part* part = n->of(own.cta)) own.join(*part);
  }
  if (!mine || n->is_flat) {
    far = sanitizer::join(far, n);
  } else {
    for (const Ref& p : n->parents) far = sanitizer::join(far, p);
  }
  sanitizer::join(pushed, n->pushed);
}

Ref View::publish() const {
  const std::shared_ptr<Node> n = known();
  n->pushed = pushed;
  return n;
}

std::shared_ptr<Node> View::known() const {
  auto n = std::make_shared<Node>();
  n->own = std::make_shared<Part>(own);
  if (far && few(*far))
    merge(n->flat, *far), merge(n->flat, &n->own, 1), n->is_flat = true;
  else if (far)
    n->parents = {far}, n->depth = far->depth + 1;
  if (n->depth > kMaxDepth) n->flatten();
  return n;
}

}  // namespace us::sanitizer
