// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

/// \file
/// One small parallel-for. Work is split into parts that depend only on the work, never on the number of threads, so
/// results do not either. A host with threads of its own replaces it with set_parallel_for.

namespace amct {

/// Runs body(context, part) for every part in [0, parts), in any order and on any threads, and returns when all are
/// done.
using ParallelFor = void (*)(std::size_t parts, void (*body)(void* context, std::size_t part), void* context);

namespace detail {

/// Threads that wait for work. Made at the first parallel call; a call from inside one, or while another host thread
/// uses it, runs on the calling thread alone.
class ThreadPool {
 public:
  using Body = void (*)(void*, std::size_t);

  explicit ThreadPool(std::size_t threads) {
    for (std::size_t t = 1; t < threads; ++t) workers_.emplace_back([this] { work(); });
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  void run(std::size_t parts, Body body, void* context) {
    std::unique_lock only(caller_, std::try_to_lock);
    if (inside() || !only.owns_lock() || workers_.empty()) {
      for (std::size_t part = 0; part < parts; ++part) body(context, part);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      body_ = body;
      context_ = context;
      parts_ = parts;
      next_ = 0;
      busy_ = workers_.size();
      ++job_;
    }
    wake_.notify_all();
    take_parts();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

  [[nodiscard]] static ThreadPool& instance() {
    static ThreadPool pool(wanted_threads());
    return pool;
  }

  /// AMCT_NUM_THREADS if it is a number from 1 to 1024, else one a core.
  [[nodiscard]] static std::size_t wanted_threads() {
    const char* const text = std::getenv("AMCT_NUM_THREADS");
    const long number = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    if (number >= 1 && number <= 1024) return static_cast<std::size_t>(number);
    return std::max(1U, std::thread::hardware_concurrency());
  }

 private:
  static bool& inside() noexcept {
    thread_local bool value = false;
    return value;
  }

  void take_parts() {
    inside() = true;
    for (std::size_t part; (part = next_.fetch_add(1)) < parts_;) body_(context_, part);
    inside() = false;
  }

  void work() {
    std::size_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || job_ != seen; });
      if (stop_) return;
      seen = job_;
      lock.unlock();
      take_parts();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex caller_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Body body_ = nullptr;
  void* context_ = nullptr;
  std::size_t parts_ = 0;
  std::atomic<std::size_t> next_{0};
  std::size_t busy_ = 0;
  std::size_t job_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

inline void run_on_pool(std::size_t parts, void (*body)(void*, std::size_t), void* context) {
  ThreadPool::instance().run(parts, body, context);
}

inline std::atomic<ParallelFor>& parallel_for_hook() noexcept {
  static std::atomic<ParallelFor> hook{&run_on_pool};
  return hook;
}

}  // namespace detail

/// Replaces the built-in thread pool; null brings it back.
inline void set_parallel_for(ParallelFor replacement) noexcept {
  detail::parallel_for_hook() = replacement != nullptr ? replacement : &detail::run_on_pool;
}

/// Runs work(first, count) over [0, size) in parts of `grain` (the last may be shorter), possibly on several threads.
/// Work of a single part runs on the calling thread, without touching the pool. `work` must not throw and must not care
/// which thread runs a part.
template <class Work>
void parallel_for(std::size_t size, std::size_t grain, Work&& work) {
  if (size <= grain) {
    if (size != 0) work(std::size_t{0}, size);
    return;
  }
  struct Context {
    Work& work;
    std::size_t size, grain;
  } context{work, size, grain};
  detail::parallel_for_hook().load()((size + grain - 1) / grain,
                                     [](void* raw, std::size_t part) {
                                       auto& c = *static_cast<Context*>(raw);
                                       const std::size_t first = part * c.grain;
                                       c.work(first, std::min(c.grain, c.size - first));
                                     },
                                     &context);
}

}  // namespace amct
