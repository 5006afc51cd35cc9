// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/plugin.hpp>

#include <span>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <amct/quantize/arq.hpp>

AMCT_QUANTIZER_PLUGIN(registry) { registry.add<amct::Arq<>>("test.plugin.Arq", amct::Role::weight); }

TEST_CASE("K20: a plugin exports its interface and registers its quantizers under the names a program looks up") {
  CHECK(std::string(amct::kPluginAbiSymbol) == "amct_plugin_abi");
  CHECK(std::string(amct::kPluginRegisterSymbol) == "amct_register");
  CHECK(std::string(amct_plugin_abi()) == amct::plugin_abi());
  amct::QuantizerRegistry registry;
  amct_register(registry);
  REQUIRE(registry.rows().size() == 1);
  CHECK(registry.find("test.plugin.Arq", amct::Role::weight) != nullptr);
}

TEST_CASE("The interface of a plugin names version, interface, standard library and sizes") {
  const std::string_view abi = amct::plugin_abi();
  std::string start = "amct ";
  start.append(amct::kVersion).append(", plugin interface 1, ");
  CHECK(abi.starts_with(start));
  std::string sizes = "sizes ";
  sizes.append(std::to_string(sizeof(void*))).push_back(' ');
  CHECK(abi.find(sizes) != std::string_view::npos);
  CHECK(abi.ends_with(std::to_string(sizeof(amct::Parameter))));
}
