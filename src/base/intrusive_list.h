// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "base/assert.h"

namespace titanium {

// A link of an IntrusiveList. An object that can be in several lists has several, told apart by
// Tag. Destroying a linked object takes it out of its list.
template <typename Tag>
class ListLink {
 public:
  ListLink() = default;
  ListLink(const ListLink&) = delete;
  ListLink& operator=(const ListLink&) = delete;
  ~ListLink() { unlink(); }

  [[nodiscard]] bool is_linked() const noexcept { return next_ != nullptr; }
  void unlink() noexcept {
    if (next_ == nullptr) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    next_ = prev_ = nullptr;
  }

 private:
  template <typename T, typename U>
  friend class IntrusiveList;

  void insert_before(ListLink& other) noexcept {
    TI_ASSERT(!is_linked());
    prev_ = other.prev_;
    next_ = &other;
    prev_->next_ = this;
    other.prev_ = this;
  }

  ListLink* prev_ = nullptr;
  ListLink* next_ = nullptr;
};

// A doubly linked list of objects that derive from ListLink<Tag>. Owns nothing, allocates nothing;
// every operation is O(1).
template <typename T, typename Tag = T>
class IntrusiveList {
 public:
  IntrusiveList() noexcept { head_.prev_ = head_.next_ = &head_; }
  ~IntrusiveList() {
    while (!empty()) head_.next_->unlink();
    head_.prev_ = head_.next_ = nullptr;
  }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  [[nodiscard]] bool empty() const noexcept { return head_.next_ == &head_; }
  void push_back(T& item) noexcept { link(item).insert_before(head_); }
  void push_front(T& item) noexcept { link(item).insert_before(*head_.next_); }
  [[nodiscard]] T* front() noexcept { return empty() ? nullptr : &object(*head_.next_); }
  [[nodiscard]] T* back() noexcept { return empty() ? nullptr : &object(*head_.prev_); }
  T* pop_front() noexcept {
    T* item = front();
    if (item != nullptr) link(*item).unlink();
    return item;
  }
  // Moves all items of `other` to the end of this list.
  void splice_back(IntrusiveList& other) noexcept {
    while (T* item = other.pop_front()) push_back(*item);
  }
  // Calls `visit` for each item; `visit` may unlink or destroy the item that it was given.
  template <typename Visit>
  void for_each(Visit visit) {
    for (ListLink<Tag>* at = head_.next_; at != &head_;) {
      ListLink<Tag>* next = at->next_;
      visit(object(*at));
      at = next;
    }
  }

 private:
  static ListLink<Tag>& link(T& item) noexcept { return item; }
  static T& object(ListLink<Tag>& at) noexcept { return static_cast<T&>(at); }

  ListLink<Tag> head_;
};

}  // namespace titanium
