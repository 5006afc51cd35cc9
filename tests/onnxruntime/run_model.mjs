// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX model in ONNX Runtime with optimizations off.
//
//   node run_model.mjs MODEL INPUT.bin DIMS OUTPUT.bin BATCH
//
// INPUT holds float32 [DIMS], e.g. 2000,1,28,28; it is fed in slices of BATCH along axis 0 and the first output of all
// slices is written to OUTPUT as float32.
import { readFileSync, writeFileSync } from 'node:fs';
import ort from 'onnxruntime-node';

const [model, inputFile, dimsText, outputFile, batchText] = process.argv.slice(2);
const dims = dimsText.split(',').map(Number);
const bytes = readFileSync(inputFile);
const input = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
const sample = input.length / dims[0];

const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: 'disabled',
  intraOpNumThreads: 1,
  logSeverityLevel: 3,
});
const outputs = [];
for (let first = 0; first < dims[0]; first += Number(batchText)) {
  const count = Math.min(Number(batchText), dims[0] - first);
  const slice = input.slice(first * sample, (first + count) * sample);
  const tensor = new ort.Tensor('float32', slice, [count, ...dims.slice(1)]);
  const results = await session.run({ [session.inputNames[0]]: tensor });
  outputs.push(Buffer.from(new Float32Array(results[session.outputNames[0]].data).buffer));
}
writeFileSync(outputFile, Buffer.concat(outputs));
