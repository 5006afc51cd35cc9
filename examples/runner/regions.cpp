// SPDX-License-Identifier: Apache-2.0
#include "regions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <amct/graph/region.hpp>

namespace runner {

void RegionArguments::add_options(CLI::App& verb) {
  verb.add_option("--skip_region", ends,
                  "FROM TO: the layers on all ways from one node to the other, both included, stay float, as\n"
                  "post-processing should; TO may be \"\" for everything behind FROM. Not for layers of the matrix\n"
                  "unit (pooling, conv, matmul) on hotwheels")
      ->type_size(2)
      ->expected(1, 100);
  verb.add_option("--skip_prefix", prefixes, "the layers whose name, or module path, begins so stay float");
}

std::vector<std::string> RegionArguments::layers(const amct::graph::Graph& graph, const LayeredModel& model,
                                                 const amct::FlavourRules& rules) const {
  std::vector<std::string> found;
  const auto add = [&](std::vector<std::string> names) {
    for (auto& name : names) {
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(std::move(name));
    }
  };
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
    add(amct::graph::layers_between(graph, model.names, {ends[i], ends[i + 1]}, model.layers, rules));
  }
  for (const auto& prefix : prefixes) {
    add(amct::graph::layers_with_prefix(graph, model.names, prefix, model.layers, rules));
  }
  return found;
}

}  // namespace runner
