// SPDX-License-Identifier: Apache-2.0
#include "flavour_option.hpp"

#include <vector>

#include <amct/core/flavour.hpp>

namespace runner {

void add_flavour_option(CLI::App& verb, std::string& flavour) {
  std::vector<std::string> flavours;
  for (const auto& rules : amct::kFlavours) flavours.emplace_back(rules.name);
  verb.add_option("--flavour", flavour, "whose rules and files (default " + flavour + ')')
      ->check(CLI::IsMember(flavours));
}

}  // namespace runner
