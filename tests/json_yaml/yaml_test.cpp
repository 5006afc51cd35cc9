// SPDX-License-Identifier: Apache-2.0
#include <amct/json_yaml/yaml.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include <amct/json_yaml/write_json.hpp>

using amct::ConfigValue;
using amct::json_yaml::parse_yaml;
using amct::json_yaml::read_yaml;

namespace {

const std::filesystem::path kSeeds = std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / "seeds";

amct::Error error_of(const std::string& text) {
  try {
    static_cast<void>(parse_yaml(text, "c.yaml"));
  } catch (const amct::Error& error) {
    CHECK(error.code() == amct::ErrorCode::config_syntax);
    return error;
  }
  FAIL("accepted: " << text.substr(0, 200));
  return {amct::ErrorCode::numeric, {}, ""};
}

std::string json_of(const std::string& yaml) {
  std::string text;
  for (const char c : amct::json_yaml::json_text(parse_yaml(yaml, "c.yaml"))) {
    if (c != ' ' && c != '\n') text += c;
  }
  return text;
}

/// The value at a path of member names and, for lists, the first item.
const ConfigValue& at(const ConfigValue& value, std::initializer_list<const char*> path) {
  const ConfigValue* here = &value;
  for (const char* name : path) {
    if (here->list() != nullptr) here = &here->list()->at(0);
    const ConfigValue* next = here->find(name);
    REQUIRE_MESSAGE(next != nullptr, name);
    here = next;
  }
  return *here;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("block and flow style give the same value") {
  const std::string expected = R"({"a":[1,{"b":"x"}],"c":{"d":null,"e":[]},"f":{}})";
  CHECK(json_of("a:\n- 1\n- b: x\nc:\n  d:\n  e: []\nf: {}\n") == expected);
  CHECK(json_of("{a: [1, {b: x}], c: {d: , e: []}, f: {}}") == expected);
  CHECK(json_of(R"({"a": [1, {"b": "x",},], "c": {"d": null, "e": []}, "f": {}})") == expected);
}

TEST_CASE("scalars keep their type, with tags and quotes too") {
  CHECK(json_of("[1, 1.0, true, null, x y, '1', \"true\", ~, on]") == R"([1,1.0,true,null,"xy","1","true",null,"on"])");
  CHECK(json_of("[!!str 1, !!int '1', !!float 1, !!bool 'true', !!null '', !!float '.5', ! 1]") ==
        R"(["1",1,1.0,true,null,0.5,"1"])");
  CHECK(json_of("!!map {a: !!seq [1]}") == R"({"a":[1]})");
  CHECK(error_of("!!int x").message().find("does not fit its tag") != std::string::npos);
  CHECK(error_of("a: !!python/tuple [1]").message().find("python/tuple") != std::string::npos);
  CHECK(error_of("!!binary aGk=").message().find("does not fit its tag") != std::string::npos);
  CHECK(error_of("!own x").message().find("does not fit its tag") != std::string::npos);
  CHECK(error_of("a: \"x\\N\"").message().find("escape") != std::string::npos);
  CHECK(error_of("a: \"\\_\"").message().find("escape") != std::string::npos);
  CHECK(json_of("\"\\L\\x85\"") == R"("\u2028\u0085")");
  CHECK(error_of("a: .nan").message() == "got .nan, expected a number that a double can hold");
}

TEST_CASE("an empty text is null") {
  CHECK(parse_yaml("", "").is_null());
  CHECK(parse_yaml("# nothing\n\n", "").is_null());
  CHECK(parse_yaml("---\n", "").is_null());
  CHECK(*parse_yaml("\xEF\xBB\xBF--- 7\n...\n", "").integer() == 7);
}

TEST_CASE("every value knows its line and column") {
  const ConfigValue value = parse_yaml("# c\na: 5\nb:\n  - x\n  - {c: [true]}\r\nd: |\n  text\n", "");
  CHECK(value.line == 2);
  CHECK(value.column == 1);
  CHECK(value.find("a")->line == 2);
  CHECK(value.find("a")->column == 4);
  CHECK(value.find("b")->list()->at(0).line == 4);
  CHECK(value.find("b")->list()->at(0).column == 5);
  CHECK(at(value.find("b")->list()->at(1), {"c"}).list()->at(0).line == 5);
  CHECK(at(value.find("b")->list()->at(1), {"c"}).list()->at(0).column == 10);
  CHECK(*value.find("d")->text() == "text\n");
}

TEST_CASE("aliases are copied, at the place of the alias") {
  const ConfigValue value = parse_yaml("a: &x {b: 1}\nc: *x\nd: [&y 2, *y, *x]\n", "");
  CHECK(*value.find("c")->find("b")->integer() == 1);
  CHECK(value.find("c")->line == 2);
  CHECK(value.find("c")->column == 4);
  CHECK(*value.find("d")->list()->at(1).integer() == 2);
  CHECK(*value.find("d")->list()->at(2).find("b")->integer() == 1);
  CHECK(json_of("- &a 1\n- &a 2\n- *a") == "[1,2,2]");
}

TEST_CASE("what no config has is refused with its place") {
  CHECK(error_of("*a").message().find("anchor") != std::string::npos);
  CHECK(error_of("&a [*a]").message() == "is an alias of a value that contains it");
  CHECK(error_of("a: 1\n---\nb: 2").where().line == 2);
  CHECK(error_of("[1] 2").message().find("after the end of its value") != std::string::npos);
  CHECK(error_of("a: 1\nb: {<<: {c: 1}}").message().find("merge keys") != std::string::npos);

  const amct::Error twice = error_of("a: 1\nb: 2\na: 3");
  CHECK(twice.where().line == 3);
  CHECK(twice.message() == "\"a\" is given twice, first at line 1, column 1");
  CHECK(error_of("{x: {a: 1, 'a': 2}}").where().column == 12);
}

TEST_CASE("names must be texts") {
  for (const char* text : {"1: a", "true: a", "~: a", ": a", "[a]: b", "{a: b}: c", "? [a]\n: b", "1.5: a"}) {
    CAPTURE(text);
    CHECK(error_of(text).message().find("for a name, expected a text") != std::string::npos);
  }
  CHECK(error_of("- &k a\n- {*k : 1}").message().find("an alias for a name") != std::string::npos);
  CHECK(json_of("'1': a\n\"true\": b\nyes: c\n? d\n: e") == R"({"1":"a","true":"b","yes":"c","d":"e"})");
}

TEST_CASE("what is no YAML is refused with its place") {
  const amct::Error tab = error_of("a:\n\tb: 1");
  CHECK(tab.where().file == "c.yaml");
  CHECK(tab.where().line == 2);
  CHECK(tab.message().find("is no valid YAML") != std::string::npos);
  for (const std::string text :
       {"a: [1", "a: {b: 1", "a: 'x", "a: \"x", "a: b: c", "- a\nb: 1", "a: 1\n b: 2\n  c: 3", "a: @x", "a: `x`", "]",
        "}", "a: \"\\q\"", "a: \"\\ud800\"", "%YAML 3.0\n--- a", "a: &", "a: *", "a: !<x", "a: |x\n b"}) {
    CAPTURE(text);
    CHECK(error_of(text).where().line >= 1);
  }
}

TEST_CASE("bytes that are no text are refused where they stand") {
  for (const std::string bad : {"\xFF", "\xC3", "\x04", "\x01", "\x7F", "\xED\xA0\x80"}) {
    CAPTURE(bad);
    CHECK(error_of("a: 1\nb: " + bad).where().line == 2);
    CHECK(error_of("a: 1\nb: " + bad).where().column == 4);
  }
  CHECK(error_of(std::string("a: \0b", 5)).where().column == 4);
  CHECK(error_of("\xFF\xFE").where().column == 1);
}

TEST_CASE("depth, values and what aliases multiply are limited") {
  const auto nested = [](std::size_t depth) { return repeated("[", depth) + repeated("]", depth); };
  CHECK(parse_yaml(nested(64), "").list() != nullptr);
  CHECK(error_of(nested(65)).message().find("more than 64 deep") != std::string::npos);
  CHECK(error_of(repeated("- ", 500'000)).message().find("more than 64 deep") != std::string::npos);
  error_of(repeated("[", 500'000));
  error_of(repeated("{a: ", 250'000));
  CHECK(error_of("a: &a " + nested(40) + "\nb: " + repeated("[", 30) + "*a" + repeated("]", 30))
            .message()
            .find("more than 64 deep") != std::string::npos);
  CHECK(error_of(std::string(amct::json_yaml::kMaxYamlBytes + 1, ' ')).message() == "has more than 1048576 bytes");

  std::string laughs = "- &a0 [x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    laughs += "- &a" + std::to_string(i) + " [" + alias + repeated(", " + alias, 9) + "]\n";
  }
  CHECK(error_of(laughs).message().find("aliases repeat more than") != std::string::npos);
  CHECK(error_of("- &a " + std::string(500'000, 'x') + "\n" + repeated("- *a\n", 1000)).message().find("bytes") !=
        std::string::npos);
  std::string anchors;
  for (int i = 0; i < 60; ++i) anchors += "&a" + std::to_string(i) + " [";
  CHECK(error_of(anchors + repeated("1,", 100'000) + "1" + repeated("]", 60)).message().find("aliases repeat") !=
        std::string::npos);
}

TEST_CASE("the samples of the guide parse") {
  const ConfigValue easy = read_yaml(kSeeds / "yaml_easy.yaml");
  CHECK(easy.find("skip_layers")->list()->empty());
  CHECK(*at(easy, {"om_config", "mapping_file"}).text() == "./om_json/resnet50.om.json");
  CHECK(*at(easy, {"common_config", "weight_quant_params", "quantizer_args", "num_bits"}).integer() == 8);
  CHECK_FALSE(*at(easy, {"override_layer_configs", "weight_quant_params", "quantizer_args", "channel_wise"}).boolean());
  CHECK(*at(easy.find("override_layer_configs")->list()->at(1), {"weight_quant_params", "quantizer_args", "quant_min"})
             .integer() == -128);

  CHECK(json_of("skip_layers: []") == R"({"skip_layers":[]})");
  CHECK(*at(read_yaml(kSeeds / "yaml_dump.yaml"),
            {"override_layer_configs", "activation_quant_params", "quantizer_args", "num_bits"})
             .integer() == 12);

  for (const int bits : {8, 12}) {
    const ConfigValue cube = read_yaml(kSeeds / ("yaml_cube_only_" + std::to_string(bits) + "bit.yaml"));
    CHECK_FALSE(*at(cube, {"common_config", "quant_enable"}).boolean());
    const auto& types = *cube.find("override_layer_types")->list();
    REQUIRE(types.size() == 4);
    CHECK(*at(types[0], {"activation_quant_params", "quantizer_args", "num_bits"}).integer() == bits);
    CHECK(types[1].find("activation_quant_params")->find("quantizer") == nullptr);
    CHECK(types[2].find("activation_quant_params")->list()->size() == 2);
    CHECK(*at(types[2], {"activation_quant_params", "quantizer_args", "qscheme"}).text() == "symmetric");
    CHECK(at(cube, {"override_layer_configs", "layer_name"}).list()->empty());
    CHECK(*at(cube, {"override_layer_configs", "weight_quant_params", "quantizer_args", "eps"}).real() ==
          0.000000119209290);
  }
}

TEST_CASE("only .yml and .yaml files are read") {
  const auto folder = std::filesystem::temp_directory_path() / "amct_yaml_test";
  std::filesystem::create_directories(folder);
  for (const char* name : {"a.yml", "a.yaml"}) {
    std::ofstream(folder / name) << "a: 1";
    CHECK(*read_yaml(folder / name).find("a")->integer() == 1);
  }
  for (const char* name : {"a.json", "a.YAML", "a", "yaml"}) {
    std::ofstream(folder / name) << "a: 1";
    CHECK_THROWS_WITH_AS(static_cast<void>(read_yaml(folder / name)),
                         doctest::Contains("expected \".yml\" or \".yaml\""), amct::Error);
  }
  CHECK_THROWS_AS(static_cast<void>(read_yaml(folder / "absent.yaml")), amct::Error);
  std::filesystem::remove_all(folder);
}
