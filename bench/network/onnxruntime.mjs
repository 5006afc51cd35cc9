// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as a server for compare.py; the peer of amct_network_bench, with the same input and the same answers to
// "run" and "cpu".
//
//   node onnxruntime.mjs MODEL SHAPE OUTPUT THREADS
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const ort = createRequire(new URL('../../tests/onnxruntime/', import.meta.url))('onnxruntime-node');

const [model, shape, outputFile, threads] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: Number(threads), interOpNumThreads: 1 });
const dims = shape.split('x').map(Number);
const values = Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(0.37 * i));
const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', values, dims) };

const output = (await session.run(feeds))[session.outputNames[0]].data;
writeFileSync(outputFile, new Uint8Array(output.buffer, output.byteOffset, output.byteLength));
for await (const line of createInterface({ input: process.stdin })) {
  if (!['run', 'cpu'].includes(line)) throw new Error(`unknown request ${line}`);
  const start = performance.now();
  const used = process.cpuUsage();
  await session.run(feeds);
  const { user, system } = process.cpuUsage(used);
  console.log((line === 'run' ? performance.now() - start : (user + system) / 1e3).toFixed(6));
}
