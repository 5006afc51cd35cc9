// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/text.hpp>

#include <amct/proto/calibration_config_pytorch.pb.h>
#include <amct/proto/scale_offset_record_pytorch.pb.h>

#include <doctest/doctest.h>

namespace pytorch = amct::proto::pytorch;

TEST_CASE("messages are written with two spaces a level and the shortest floats") {
  pytorch::AMCTConfig message;
  message.set_batch_num(3);
  message.mutable_common_config()->mutable_ifmr_quantize()->set_search_step(1.0F);
  message.mutable_common_config()->mutable_ifmr_quantize()->set_search_range_start(0.7F);
  message.mutable_common_config()->mutable_ifmr_quantize()->set_dst_type(pytorch::INT16);
  CHECK(amct::protobuf::to_text(message) ==
        "batch_num: 3\n"
        "common_config {\n"
        "  ifmr_quantize {\n"
        "    search_range_start: 0.7\n"
        "    search_step: 1.0\n"
        "    dst_type: INT16\n"
        "  }\n"
        "}\n");
  CHECK(amct::protobuf::to_text(pytorch::AMCTConfig()).empty());
}

TEST_CASE("UTF-8 is written as it is, quotes and backslashes are escaped") {
  pytorch::AMCTConfig message;
  message.add_skip_layers("\xE5\x8D\xB7\xE7\xA7\xAF");
  message.add_skip_layers("a\"b\\c\n");
  CHECK(amct::protobuf::to_text(message) ==
        "skip_layers: \"\xE5\x8D\xB7\xE7\xA7\xAF\"\n"
        "skip_layers: \"a\\\"b\\\\c\\n\"\n");
}

TEST_CASE("floats are written in either style, at any depth, and bytes are escaped") {
  pytorch::ScaleOffsetRecord message;
  message.add_record()->mutable_value()->set_scale_d(0.0798481479F);
  auto* attribute = message.add_prune_record()->add_producer()->add_attr();
  attribute->set_f(1.0F);
  attribute->set_s("\xE5\x8D\xB7");
  CHECK(amct::protobuf::to_text(message, amct::FloatStyle::digits9, 1) ==
        "  record {\n    value {\n      scale_d: 0.0798481479\n    }\n  }\n"
        "  prune_record {\n    producer {\n      attr {\n        f: 1\n        s: \"\\345\\215\\267\"\n"
        "      }\n    }\n  }\n");
}
