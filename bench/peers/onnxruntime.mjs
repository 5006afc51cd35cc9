// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as a peer, in a process of its own.
//
//   node onnxruntime.mjs DATA RESULTS MIN_SECONDS FILTER
//
// DATA holds what amct_bench --dump wrote. RESULTS is written in the form of Google Benchmark's JSON. A run includes
// the call from JavaScript, about 10 us.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { integerLayers } from './integer_layers.mjs';
import { model } from './onnx_model.mjs';

const ort = createRequire(new URL('../../tests/onnxruntime/', import.meta.url))('onnxruntime-node');

const [dataFolder, resultsFile, minSeconds, filter] = process.argv.slice(2);
const sizes = { '4Ki': 4 << 10, '256Ki': 256 << 10, '32Mi': 32 << 20 };
const weights = { '512x512x3x3': 512 * 512 * 3 * 3 };
const arrays = { float32: Float32Array, int8: Int8Array, uint8: Uint8Array, int32: Int32Array };

// The quantizers of contests.hpp. If they were others, the results would not agree with ours.
const scale = 0.03;
const offset = -7;
const scale4 = 0.4;
const rowScales = Array.from({ length: 512 }, (_, row) => Math.fround(0.01) * (1 + (row % 7)));

const floats = (values) => new Uint8Array(Float32Array.from(values).buffer);
const quantizer = (scales, type, offsets, dims) => [
  { name: 's', type: 'float32', dims, data: floats(scales) },
  { name: 'z', type, dims, data: Uint8Array.from(offsets) },
];
const int8 = quantizer([scale], 'int8', [offset & 255], []);
const int8Rows = quantizer(rowScales, 'int8', rowScales.map(() => 0), [512]);
const int4 = quantizer([scale4], 'int4', [0], []);

const quantize = (output, attributes) => ({ op: 'QuantizeLinear', inputs: ['x', 's', 'z'], output, attributes });
const dequantize = (input, attributes) =>
  ({ op: 'DequantizeLinear', inputs: [input, 's', 'z'], output: 'y', attributes });

/// Packed codes, a byte of two a time, as values.
function unpacked(bytes) {
  const values = new Float32Array(2 * bytes.length);
  bytes.forEach((byte, i) => {
    values[2 * i] = ((byte << 28) >> 28) * Math.fround(scale4);
    values[2 * i + 1] = (byte >> 4) * Math.fround(scale4);
  });
  return values;
}

// int4 tensors cannot be passed from or to JavaScript. So codes to dequantize are a constant, and codes of a
// quantization stay inside: the output of the timed model is something else, while a second model shows the values.
const contests = [
  { name: 'quantize', sizes, input: 'float32', output: 'int8', step: 1, constants: int8, nodes: [quantize('y')] },
  { name: 'dequantize', sizes, input: 'int8', output: 'float32', step: scale, constants: int8,
    nodes: [dequantize('x')] },
  { name: 'fake_quantize', sizes, input: 'float32', output: 'float32', step: scale, constants: int8,
    nodes: [quantize('q'), dequantize('q')] },
  { name: 'fake_quantize_channels', sizes: weights, input: 'float32', output: 'float32', step: rowScales[6],
    constants: int8Rows, dims: [512, 512, 3, 3], nodes: [quantize('q', { axis: 0 }), dequantize('q', { axis: 0 })] },
  { name: 'quantize4', sizes, input: 'float32', output: 'float32', step: scale4, constants: int4,
    nodes: [quantize('q'), dequantize('q')], stored: 'int8', expected: unpacked,
    timedNodes: [quantize('q'), { op: 'Identity', inputs: ['s'], output: 'y' }], timedDims: [] },
  { name: 'dequantize4', sizes, constantInput: 'int4', output: 'float32', step: scale4, constants: int4,
    nodes: [dequantize('x')] },
  ...integerLayers,
];

function load(contest, end, type) {
  const content = readFileSync(`${dataFolder}/${contest.name}.${end}`);
  return new arrays[type](content.buffer, content.byteOffset, content.byteLength / arrays[type].BYTES_PER_ELEMENT);
}

/// The dumped tile, repeated.
function repeated(tile, length) {
  const data = new tile.constructor(length);
  for (let first = 0; first < length; first += tile.length) {
    data.set(tile.subarray(0, Math.min(tile.length, length - first)), first);
  }
  return data;
}

/// How results differ from ours beyond what a division explains: see support/agreement.hpp.
function complaint(got, tile, step) {
  let left = 1 + Math.floor(got.length / 10000);
  for (let i = 0; i < got.length; ++i) {
    const want = tile[i % tile.length];
    const distance = Math.abs(got[i] - want);
    if (distance <= 1e-6 * Math.abs(want)) continue;
    if (distance > 1.001 * step || left-- === 0) return `element ${i} is ${got[i]}, ours ${want}`;
  }
  return '';
}

/// The fastest of at least five runs: warming up and collecting garbage are not the peer's fault.
async function timed(run) {
  const times = [];
  for (let total = 0; times.length < 5 || total < minSeconds * 1e9; total += times.at(-1)) {
    const start = process.hrtime.bigint();
    await run();
    times.push(Number(process.hrtime.bigint() - start));
  }
  return { real_time: Math.min(...times), time_unit: 'ns', iterations: times.length };
}

/// Optimizations are off, since they would compute constants beforehand.
async function withSession(description, threads, use) {
  const session = await ort.InferenceSession.create(model(description), {
    graphOptimizationLevel: 'disabled', intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 3,
  });
  const result = await use(session);
  await session.release();
  return result;
}

async function measure(contest, elements, threads) {
  const dims = contest.dims ?? [elements];
  const length = (shape) => shape.reduce((product, dim) => product * dim, 1);
  const feeds = {};
  const { given = (values) => values, expected = (values) => values, stored = contest.output } = contest;
  const description = { ...contest, dims };
  if (contest.constantInput) {
    const data = Buffer.from(repeated(load(contest, 'in', 'int8'), elements / 2).buffer);
    description.constants = [...contest.constants, { name: 'x', type: contest.constantInput, dims, data }];
  } else {
    const tile = load(contest, 'in', contest.given ? 'int8' : contest.input);
    feeds.x = new ort.Tensor(contest.input, repeated(given(tile), length(dims)), dims);
  }
  const different = contest.isChecked === false ? '' : await withSession(description, threads, async (session) => {
    const results = await session.run(feeds);
    return complaint(results.y.data, expected(load(contest, 'out', stored)), contest.step);
  });
  if (different) return { error_occurred: true, error_message: different };
  const outputDims = contest.timedDims ?? contest.outputDims ?? dims;
  const fetches = { y: new ort.Tensor(contest.output, new arrays[contest.output](length(outputDims)), outputDims) };
  return withSession({ ...description, nodes: contest.timedNodes ?? contest.nodes, outputDims }, threads,
    (session) => timed(() => session.run(feeds, fetches)));
}

const benchmarks = [];
for (const contest of contests) {
  for (const [size, elements] of Object.entries(contest.sizes)) {
    for (const threads of contest.threads ?? [1]) {
      const title = `${contest.name}/${size}${threads > 1 ? `/${threads} threads` : ''}`;
      if (!new RegExp(filter).test(title)) continue;
      const result = await measure(contest, elements, threads);
      benchmarks.push({ name: `${title}/peer:${contest.peer ?? 'ONNX Runtime'}`, ...result });
    }
  }
}
writeFileSync(resultsFile, JSON.stringify({ benchmarks }, null, 1));
