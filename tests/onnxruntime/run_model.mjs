// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX model in ONNX Runtime on one thread.
//
//   node run_model.mjs JOB.json DATA.bin RESULT.json RESULT.bin
//
// JOB is {"model": path, "optimizations": "disabled" or "all", "optimized": path, "runs": [{input name: tensor, ...},
// ...], "carry": {output name: input name, ...}}. `optimized`, if it is there, gets the model as it is run. A tensor is {"type": "float32", "dims": [2, 3], "offset": bytes} with its
// elements in DATA. `carry` feeds outputs of a run to the next, which may leave those inputs out. RESULT lists the output
// tensors of each run, in the model's order.
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import ort from 'onnxruntime-node';

const arrays = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array,
};
const [jobFile, dataFile, resultFile, resultDataFile] = process.argv.slice(2);
const job = JSON.parse(readFileSync(jobFile, 'utf8'));
const data = readFileSync(dataFile);

function readTensor({ type, dims, offset }) {
  const length = dims.reduce((product, dim) => product * dim, 1) * arrays[type].BYTES_PER_ELEMENT;
  const bytes = Uint8Array.from(data.subarray(offset, offset + length));
  return new ort.Tensor(type, new arrays[type](bytes.buffer), dims);
}

const resultData = openSync(resultDataFile, 'w');
let offset = 0;
function writeTensor({ type, dims, data: elements }) {
  writeSync(resultData, new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength));
  offset += elements.byteLength;
  return { type, dims, offset: offset - elements.byteLength };
}

const session = await ort.InferenceSession.create(job.model, {
  graphOptimizationLevel: job.optimizations,
  intraOpNumThreads: 1,
  logSeverityLevel: 3,
  ...(job.optimized ? { optimizedModelFilePath: job.optimized } : {}),
});
const results = [];
let carried = {};
for (const run of job.runs) {
  const feeds = { ...carried };
  for (const name in run) feeds[name] = readTensor(run[name]);
  const outputs = await session.run(feeds);
  results.push(session.outputNames.map((name) => writeTensor(outputs[name])));
  carried = Object.fromEntries(Object.entries(job.carry).map(([from, to]) => [to, outputs[from]]));
}
closeSync(resultData);
writeFileSync(resultFile, JSON.stringify(results));
