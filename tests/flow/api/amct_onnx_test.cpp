// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/api/amct_onnx.hpp>

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <amct/onnx/export.hpp>

#include "flow/api/small_network.hpp"
#include "support/text_file.hpp"

using namespace amct;

TEST_CASE_FIXTURE(SmallNetwork,
                  "K4 the functions of AMCT's ONNX tool quantize a file, and convert_model gives the same again") {
  const std::string net = file("net.onnx"), config = file("config.json"), record = file("record.txt");
  amct::onnx::export_model(net, graph());
  amct_onnx::create_quant_config(config, net, support::ops());
  QuantModel calibrated = amct_onnx::quantize_model(config, net, file("modified.onnx"), record, support::ops());
  calibrated.forward(batch(8));
  amct_onnx::save_model(file("modified.onnx"), record, file("a/m"));
  amct_onnx::convert_model(net, record, file("b/m"), support::ops());
  for (const char* name : {"m_deploy_model.onnx", "m_quant_param_record.txt"}) {
    CHECK(support::read_text(folder / ("a/" + std::string(name))) ==
          support::read_text(folder / ("b/" + std::string(name))));
  }
  CHECK(support::error_of([&] { amct_onnx::convert_qat_model(net, file("c/m")); })->code() ==
        ErrorCode::model_unsupported);
}
