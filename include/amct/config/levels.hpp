// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/type_names.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// A setting and the place in the file that states it.
template <class T>
struct Stated {
  T value{};
  Where where{};
};

/// What is settled for one layer.
template <class T>
struct Picked {
  const Stated<T>* stated = nullptr;  ///< null if no level states it
  bool named = false;                 ///< the layer or its type was named; otherwise common to all
};

/// The parts that one level states.
template <class Parts>
struct PickedLevel {
  const Parts* parts = nullptr;  ///< null if no level counts
  bool named = false;            ///< as in Picked

  template <class T>
  [[nodiscard]] Picked<T> pick(std::optional<Stated<T>> Parts::*part) const {
    return {parts != nullptr && parts->*part ? &*(parts->*part) : nullptr, named};
  }
};

/// The levels of an easy config: a layer's name is more specific than its type (the first entry that matches counts),
/// and a type than what is common. `Parts` holds a `std::optional<Stated<T>>` for each setting.
template <class Parts>
struct Levels {
  Parts common{};
  std::vector<std::pair<std::string, Parts>> types{};
  std::map<std::string, Parts> layers{};

  /// The most specific level whose parts `count`.
  template <class Counts>
  [[nodiscard]] PickedLevel<Parts> find(const LayerInfo& layer, const Counts& count) const {
    const auto own = layers.find(layer.name);
    if (own != layers.end() && count(own->second)) return {&own->second, true};
    for (const auto& [type, parts] : types) {
      if (count(parts) && matches_type(layer, type)) return {&parts, true};
    }
    return {count(common) ? &common : nullptr, false};
  }

  /// The part of the most specific level that states it.
  template <class T>
  [[nodiscard]] Picked<T> pick(const LayerInfo& layer, std::optional<Stated<T>> Parts::*part) const {
    return find(layer, [&](const Parts& parts) { return (parts.*part).has_value(); }).pick(part);
  }
};

/// An error for a name that is none of the layers.
inline void check_layer_name(Diagnostics& out, const Where& where, const std::string& name,
                             const NetworkNames& network) {
  if (network.layer(name) != nullptr || !network.require(name, where, out)) return;
  out.error(ErrorCode::config_layer, where, "layer \"" + name + "\" cannot be configured here");
}

/// An error for a type that is unknown, or of which no layer could be in the table. \param usable what is possible
inline void check_type_name(Diagnostics& out, const Where& where, const std::string& type,
                            const std::function<bool(const LayerPattern&)>& usable) {
  const LayerPattern* const pattern = find_type(type);
  if (pattern == nullptr) {
    out.error(ErrorCode::config_layer, where, describe_unknown_type(type));
  } else if (!usable(*pattern)) {
    out.error(ErrorCode::config_layer, where, "layers of type \"" + type + "\" cannot be configured here");
  }
}

/// Reads overrides: a list of objects, each with a name in `name_field` and parts. A missing or repeated name is an
/// error, and so is what `read_parts` leaves unread.
template <class Parts>
[[nodiscard]] std::vector<std::pair<std::string, Parts>> read_overrides(
    ObjectReader& top, const std::string& file, const std::string& list_field, const std::string& name_field,
    const std::function<void(const std::string&, const Where&)>& check_name,
    const std::function<Parts(ObjectReader&, const std::string&)>& read_parts) {
  std::vector<std::pair<std::string, Parts>> overrides;
  std::map<std::string, int> lines;
  const ConfigValue* const list = top.take(list_field);
  if (list == nullptr) return overrides;
  if (list->list() == nullptr) return top.refuse(list_field, "a list"), overrides;
  for (const ConfigValue& item : *list->list()) {
    ObjectReader reader(item, {.file = file}, list_field, top.diagnostics());
    std::string name;
    if (!reader.read(name_field, name) || name.empty()) {
      reader.refuse(name_field, "a name");
    } else if (const auto [first, is_new] = lines.emplace(name, item.line); !is_new) {
      reader.refuse_with(name_field,
                         "\"" + name + "\" is repeated (first in line " + std::to_string(first->second) +
                             "), expected one entry for each name",
                         ErrorCode::config_layer);
    } else {
      check_name(name, reader.where(name_field));
    }
    overrides.emplace_back(name, read_parts(reader, list_field));
    reader.refuse_others();
  }
  return overrides;
}

}  // namespace amct
