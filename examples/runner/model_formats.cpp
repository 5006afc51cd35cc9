// SPDX-License-Identifier: Apache-2.0
#include "model_formats.hpp"

#include <algorithm>
#include <string>

namespace runner {

void add_format_options(CLI::App& verb, FormatArguments& arguments) {
  verb.add_option(
          "--format", arguments.formats,
          "models to write, joined by ',': deploy (AMCT's operators), fake_quant (standard operators on floats\n"
          "that hold integers), qdq (<save_path>_qdq_model.onnx with QuantizeLinear and DequantizeLinear, which\n"
          "runtimes execute in integers), float (<save_path>_float_model.onnx, the model as it was read);\n"
          "default: deploy,fake_quant; hotwheels: deploy,float")
      ->delimiter(',')
      ->check(CLI::IsMember({"deploy", "fake_quant", "qdq", "float"}));
  verb.add_option("--opset", arguments.opset,
                  "opset of the written models, 13 to 21 and not below that of the model; default: the model's")
      ->check(CLI::Range(std::int64_t{13}, std::int64_t{21}));
  verb.add_option("--qdq_activations", arguments.qdq_activations,
                  "codes of activations in the qdq model: int8, AMCT's own (the default), or uint8, 128 larger; the\n"
                  "results are the same")
      ->check(CLI::IsMember({"int8", "uint8"}));
  verb.add_option("--qdq_weights", arguments.qdq_weights,
                  "weights of 4 bits in the qdq model: int8 (the default), or int4, two a byte, in opset 21")
      ->check(CLI::IsMember({"int8", "int4"}));
}

amct::onnx::ModelFormats formats_of(const FormatArguments& arguments, const amct::FlavourRules& rules) {
  const bool stated = !arguments.formats.empty();
  const auto has = [&](const char* name, bool otherwise) {
    if (!stated) return otherwise;
    return std::find(arguments.formats.begin(), arguments.formats.end(), name) != arguments.formats.end();
  };
  return {.deploy = has("deploy", true),
          .fake_quant = has("fake_quant", rules.writes_fake_quant_model),
          .qdq = has("qdq", false),
          .qdq_form = {.unsigned_activations = arguments.qdq_activations == "uint8",
                       .int4_weights = arguments.qdq_weights == "int4"},
          .float32 = has("float", rules.writes_float_model),
          .opset = arguments.opset};
}

}  // namespace runner
