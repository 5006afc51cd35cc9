// SPDX-License-Identifier: Apache-2.0
// The layers of kernel/integer_layer_bench.cpp as contests of ONNX Runtime, for onnxruntime.mjs: once with uint8
// activations, for which it has integer kernels, and once with int8.

// Those of integer_layer.hpp. If they were others, the results would not agree with ours.
const inputOffset = -7;
const outputOffset = 5;

function parametersOf({ channelsIn, channelsOut, kernel, groups }) {
  const terms = (channelsIn / groups) * kernel * kernel;
  const weights = new Int8Array(channelsOut * terms);
  let state = 1;
  for (let i = 0; i < weights.length; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    weights[i] = 2 * ((state >>> 16) % 63) - 62;
  }
  const channels = Array.from({ length: channelsOut }, (_, c) => c);
  const widest = Math.fround(Math.fround(0.0150317) / Math.fround(Math.sqrt(terms)));
  const tenth = Math.fround(0.1);
  return {
    weights,
    bias: Int32Array.from(channels, (c) => ((c * 37) % 2001) - 1000),
    multipliers: Float32Array.from(channels, (c) => widest * Math.fround(1 + Math.fround(tenth * (c % 7)))),
  };
}

const bytes = (array) => new Uint8Array(array.buffer);
const constant = (name, type, dims, array) => ({ name, type, dims, data: bytes(array) });

/// Rows and columns exchanged.
function transposed(matrix, rows) {
  const columns = matrix.length / rows;
  return Int8Array.from(matrix, (_, i) => matrix[(i % rows) * columns + Math.floor(i / rows)]);
}

/// What the types of activations differ in. Codes of uint8 are moved by 128.
const kinds = [
  { suffix: 'u8', type: 'uint8', shift: 128, array: Uint8Array },
  { suffix: 's8', type: 'int8', shift: 0, array: Int8Array },
];

function quantizers({ type, shift, array }, { multipliers }) {
  const channels = multipliers.length;
  return [
    constant('one', 'float32', [], Float32Array.of(1)),
    constant('x_zero', type, [], array.of(inputOffset + shift)),
    constant('y_zero', type, [], array.of(outputOffset + shift)),
    constant('w_scale', 'float32', [channels], multipliers),
    constant('w_zero', 'int8', [channels], new Int8Array(channels)),
  ];
}

const shifted = ({ shift, array }) => (codes) => array.from(codes, (code) => code + shift);

function common(shape, kind, parameters) {
  return {
    name: shape.name, sizes: { [shape.size]: 0 }, threads: [1, 2], input: kind.type, stored: 'int8', step: 1,
    given: shifted(kind), expected: shifted(kind), output: kind.type,
    constants: quantizers(kind, parameters),
  };
}

/// QGemm does all that ours does; the others know no bias, and MatMulInteger no requantization either.
function products(rows) {
  const shape = { name: `gemm_s8_${rows}`, size: `${rows}x${rows}`, channelsIn: rows, channelsOut: rows, kernel: 1,
    groups: 1 };
  const parameters = parametersOf(shape);
  const weights = constant('w', 'int8', [rows, rows], transposed(parameters.weights, rows));
  const bias = constant('b', 'int32', [rows], parameters.bias);
  return kinds.flatMap((kind) => {
    const base = { ...common(shape, kind, parameters), dims: [rows, rows], outputDims: [rows, rows] };
    const constants = [...base.constants, weights];
    const scaled = ['x', 'one', 'x_zero', 'w', 'w_scale', 'w_zero'];
    return [
      { ...base, peer: `ONNX Runtime ${kind.suffix}`, constants: [...constants, bias],
        nodes: [{ op: 'QGemm', domain: 'com.microsoft', inputs: [...scaled, 'b', 'one', 'y_zero'], output: 'y' }] },
      { ...base, peer: `ONNX Runtime ${kind.suffix}, QLinearMatMul`, constants, isChecked: false,
        nodes: [{ op: 'QLinearMatMul', inputs: [...scaled, 'one', 'y_zero'], output: 'y' }] },
      { ...base, peer: `ONNX Runtime ${kind.suffix}, MatMulInteger`, isChecked: false, output: 'int32',
        constants: [...constants, constant('w0', 'int8', [], Int8Array.of(0))],
        nodes: [{ op: 'MatMulInteger', inputs: ['x', 'w', 'x_zero', 'w0'], output: 'y' }] },
    ];
  });
}

/// Channels last, like ours.
function convolutions(name, side, channelsIn, channelsOut, kernel, stride = 1, groups = 1) {
  const shape = { name, size: `${side}x${side}`, channelsIn, channelsOut, kernel, groups };
  const parameters = parametersOf(shape);
  const padding = (kernel - 1) / 2;
  const out = Math.floor((side + 2 * padding - kernel) / stride) + 1;
  const attributes = { channels_last: 1, group: groups, kernel_shape: [kernel, kernel], strides: [stride, stride],
    pads: [padding, padding, padding, padding] };
  return kinds.map((kind) => {
    const base = common(shape, kind, parameters);
    return {
      ...base, peer: `ONNX Runtime ${kind.suffix}`, dims: [1, side, side, channelsIn],
      outputDims: [1, out, out, channelsOut],
      constants: [...base.constants, constant('b', 'int32', [channelsOut], parameters.bias),
        constant('w', 'int8', [channelsOut, channelsIn / groups, kernel, kernel], parameters.weights)],
      nodes: [{ op: 'QLinearConv', domain: 'com.microsoft', attributes, output: 'y',
        inputs: ['x', 'one', 'x_zero', 'w', 'w_scale', 'w_zero', 'one', 'y_zero', 'b'] }],
    };
  });
}

export const integerLayers = [
  ...[256, 1024, 2048].flatMap(products),
  ...convolutions('conv_3x3_64', 56, 64, 64, 3),
  ...convolutions('conv_3x3_128', 28, 128, 128, 3),
  ...convolutions('conv_3x3_256', 14, 256, 256, 3),
  ...convolutions('conv_1x1_512_128', 28, 512, 128, 1),
  ...convolutions('conv_7x7_3_64', 224, 3, 64, 7, 2),
  ...convolutions('conv_3x3_depthwise', 112, 32, 32, 3, 1, 32),
];
