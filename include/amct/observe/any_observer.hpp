// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/saved_states.hpp>
#include <amct/observe/state_bytes.hpp>

namespace amct {

/// The least that AnyObserver needs: see Observer for the meaning. Custom algorithms have no more.
template <class W>
concept Watcher = std::movable<W> && requires(W watcher, const W seen, std::span<const float> batch, CodeRange range) {
  { watcher.observe(batch) } -> std::same_as<Status>;
  { seen.ready() } -> std::same_as<bool>;
  { seen.compute(range) } -> std::same_as<Affine>;
};

/// Any observer, chosen at run time: the boundary between names in a configuration and types. One virtual call a batch.
/// Empty until something is assigned; move only.
///
/// What a type does not offer is StatusCode::not_offered: merging and resetting of types that are no Observer, saving
/// of types that are no SavedObserver.
class AnyObserver {
 public:
  AnyObserver() = default;
  /// \param name     for reports and checkpoints: "ifmr", "hfmg", or the name in the configuration
  /// \param options  those the observer is made of, again; they are saved with its state
  template <Observer O>
  AnyObserver(std::string name, typename O::Options options, std::in_place_type_t<O>)
      : name_(std::move(name)), held_(std::make_unique<HeldObserver<O>>(std::move(options))) {}
  template <Watcher W>
  AnyObserver(std::string name, W watcher)
      : name_(std::move(name)), held_(std::make_unique<HeldWatcher<W>>(std::move(watcher))) {}

  /// `AnyObserver::of<Ifmr>("ifmr", {.batch_num = 2})`
  template <Observer O>
  [[nodiscard]] static AnyObserver of(std::string name, typename O::Options options = {}) {
    return {std::move(name), std::move(options), std::in_place_type<O>};
  }

  [[nodiscard]] bool empty() const noexcept { return held_ == nullptr; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// \pre not empty, for these and all below
  Status observe(std::span<const float> batch) { return held_->observe(batch); }
  [[nodiscard]] bool ready() const noexcept { return held_->ready(); }
  /// Scale and offset of what was seen; check it with is_usable. \pre at least one batch
  [[nodiscard]] Affine compute(CodeRange range) const { return held_->compute(range); }
  /// Takes in what another observer has seen, as if behind the own batches. bad_option if it is of another type or has
  /// other options.
  Status merge(const AnyObserver& other) { return held_->merge(*other.held_); }
  /// The same with what the other one saved. Refuses what restore() refuses, and with `empty` a state without a batch.
  Status merge(std::span<const std::byte> bytes) { return held_->merge(bytes); }
  Status reset() { return held_->reset(); }

  /// Whether merge() and save() are offered.
  [[nodiscard]] bool can_be_saved() const noexcept { return held_->can_be_saved(); }
  /// Options and state as bytes, the same for the same observer and data on every machine.
  Status save(std::vector<std::byte>& bytes) const { return held_->save(bytes); }
  /// Goes on from bytes of an observer of the same type and options. Everything else is refused with bad_option, which
  /// says what was expected, and the observer is unchanged.
  Status restore(std::span<const std::byte> bytes) { return held_->restore(bytes); }

 private:
  struct Interface {
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
    virtual Status observe(std::span<const float> batch) = 0;
    [[nodiscard]] virtual bool ready() const noexcept = 0;
    [[nodiscard]] virtual Affine compute(CodeRange range) const = 0;
    [[nodiscard]] virtual bool can_be_saved() const noexcept = 0;
    /// Address of something that only observers of one type have.
    [[nodiscard]] virtual const void* type() const noexcept = 0;
    virtual Status merge(const Interface& other) = 0;
    virtual Status merge(std::span<const std::byte> bytes) = 0;
    virtual Status reset() = 0;
    virtual Status save(std::vector<std::byte>& bytes) const = 0;
    virtual Status restore(std::span<const std::byte> bytes) = 0;
  };

  template <class T>
  static constexpr char kTypeMark = 0;

  template <Watcher W>
  struct HeldWatcher final : Interface {
    W watcher;

    explicit HeldWatcher(W w) : watcher(std::move(w)) {}
    Status observe(std::span<const float> batch) override { return watcher.observe(batch); }
    [[nodiscard]] bool ready() const noexcept override { return watcher.ready(); }
    [[nodiscard]] Affine compute(CodeRange range) const override { return watcher.compute(range); }
    [[nodiscard]] bool can_be_saved() const noexcept override { return false; }
    [[nodiscard]] const void* type() const noexcept override { return &kTypeMark<W>; }
    Status merge(const Interface&) override { return {StatusCode::not_offered}; }
    Status merge(std::span<const std::byte>) override { return {StatusCode::not_offered}; }
    Status reset() override { return {StatusCode::not_offered}; }
    Status save(std::vector<std::byte>&) const override { return {StatusCode::not_offered}; }
    Status restore(std::span<const std::byte>) override { return {StatusCode::not_offered}; }
  };

  template <Observer O>
  struct HeldObserver final : Interface {
    typename O::Options options;
    O observer;

    explicit HeldObserver(typename O::Options o) : options(o), observer(std::move(o)) {}
    Status observe(std::span<const float> batch) override { return observer.observe(batch); }
    [[nodiscard]] bool ready() const noexcept override { return observer.ready(); }
    [[nodiscard]] Affine compute(CodeRange range) const override { return observer.compute(range); }
    [[nodiscard]] bool can_be_saved() const noexcept override { return SavedObserver<O>; }
    [[nodiscard]] const void* type() const noexcept override { return &kTypeMark<O>; }
    Status merge(const Interface& other) override {
      if (other.type() != type()) return check_option(false, "observer", 0.0, "one of the same type");
      const auto& theirs = static_cast<const HeldObserver&>(other);
      if constexpr (SavedObserver<O>) {
        if (option_bytes() != theirs.option_bytes()) return refuse_options();
      }
      return observer.merge(theirs.observer);
    }
    Status reset() override {
      observer.reset();
      return {};
    }
    Status save(std::vector<std::byte>& bytes) const override {
      if constexpr (SavedObserver<O>) {
        StateWriter writer;
        const auto& state = observer.state();
        writer(kFormat, options, state);
        bytes = writer.take();
        return {};
      }
      return {StatusCode::not_offered};
    }
    Status restore(std::span<const std::byte> bytes) override {
      if constexpr (SavedObserver<O>) return read(bytes, observer);
      return {StatusCode::not_offered};
    }
    Status merge(std::span<const std::byte> bytes) override {
      if constexpr (SavedObserver<O>) {
        O other(options);
        if (const Status status = read(bytes, other); !status) return status;
        if (is_fresh(other)) return {StatusCode::empty};
        return observer.merge(other);
      }
      return {StatusCode::not_offered};
    }

   private:
    static constexpr std::uint32_t kFormat = 1;

    Status read(std::span<const std::byte> bytes, O& into) const {
      const std::vector<std::byte> expected = option_bytes();
      const bool same = bytes.size() >= expected.size() && std::equal(expected.begin(), expected.end(), bytes.begin());
      if (!same) return refuse_options();
      StateReader reader(bytes.subspan(expected.size()));
      typename O::State state{};
      reader(state);
      if (!reader.at_end()) return check_option(false, "state", 0.0, "as many bytes as its counts say");
      if (const Status status = check_state(options, state); !status) return status;
      into.restore(std::move(state));
      return {};
    }
    /// Whether an observer has seen nothing.
    [[nodiscard]] static bool is_fresh(const O& other) {
      StateWriter seen;
      StateWriter nothing;
      const auto& state = other.state();
      seen(state);
      nothing(typename O::State{});
      return seen.take() == nothing.take();
    }
    [[nodiscard]] static Status refuse_options() noexcept {
      return check_option(false, "options", 0.0, "those of this observer");
    }
    /// What saved bytes begin with.
    [[nodiscard]] std::vector<std::byte> option_bytes() const {
      StateWriter writer;
      writer(kFormat, options);
      return writer.take();
    }
  };

  std::string name_;
  std::unique_ptr<Interface> held_;
};

}  // namespace amct
