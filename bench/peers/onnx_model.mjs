// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX models: a chain of nodes from input "x" to output "y", with constants. Only the protobuf fields
// that such a model needs (onnx.proto3).

export const types = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, int4: 22 };

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);

function bytes(field, value) {
  const content = Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

const message = (field, ...parts) => bytes(field, Buffer.concat(parts));

/// An integer or a list of them.
const attribute = ([name, value]) => (Array.isArray(value)
  ? message(5, bytes(1, name), ...value.map((item) => number(8, item)), number(20, 7))
  : message(5, bytes(1, name), number(3, value), number(20, 2)));

const node = ({ op, domain = '', inputs, output, attributes = {} }) =>
  message(1, ...inputs.map((name) => bytes(1, name)), bytes(2, output), bytes(4, op),
    ...Object.entries(attributes).map(attribute), bytes(7, domain));

const constant = ({ name, type, dims, data }) =>
  message(5, ...dims.map((dim) => number(1, dim)), number(2, types[type]), bytes(8, name), bytes(9, data));

const value = (field, name, type, dims) => {
  const shape = message(2, ...dims.map((dim) => message(1, number(1, dim))));
  return message(field, bytes(1, name), message(2, message(1, number(1, types[type]), shape)));
};

/// Element types `input` and `output`, and their shapes. Without an input type, "x" is one of the constants.
export function model({ nodes, constants, dims, input, output, outputDims = dims }) {
  const inputs = input ? [value(11, 'x', input, dims)] : [];
  const graph = message(7, ...nodes.map(node), bytes(2, 'graph'), ...constants.map(constant), ...inputs,
    value(12, 'y', output, outputDims));
  const operators = [['', 21], ['com.microsoft', 1]];
  return Buffer.concat([number(1, 10), graph,
    ...operators.map(([domain, version]) => message(8, bytes(1, domain), number(2, version)))]);
}
