// Run by the tests in Node: what this package makes of the server's inputs, for comparison with what the server makes.
// Arguments: the folder of a model bundle, ONNX Runtime's WebAssembly, a JSON file of inputs, a JSON file to write.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { G2p } from '../src/reader/g2p';
import { Reader } from '../src/reader/reader';
import type { ReaderTables } from '../src/reader/tables';
import { WrenDecoder } from '../src/wren/decoder';
import { RealFft } from '../src/wren/fft';
import { Front } from '../src/wren/front';
import { Graph, configureRuntime } from '../src/wren/graph';
import { heardFrames } from '../src/wren/plan';

interface Inputs {
  sentences: string[];
  ids: number[];
  style: number[];
  plan: { text: number[]; pitch: number[]; energy: number[]; durations: number[] };
  frames: Record<number, number[]>;
}

const [bundle, wasm, given, results] = process.argv.slice(2) as [string, string, string, string];
const inputs = JSON.parse(readFileSync(given, 'utf8')) as Inputs;
const bytes = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(bundle, name)));
const graph = (name: string): Promise<Graph> => Graph.open(bytes(name));

configureRuntime(new Uint8Array(readFileSync(wasm)), 1);

async function phonemes(): Promise<string[]> {
  const tables = JSON.parse(readFileSync(join(bundle, 'reader-us.json'), 'utf8')) as ReaderTables;
  const reader = new Reader(tables, new G2p(await graph('g2p_encoder.onnx'), await graph('g2p_decoder.onnx'), tables));
  const read: string[] = [];
  for (const text of inputs.sentences) {
    const words = (await reader.read(text)).flatMap((sentence) => sentence.words);
    read.push(words.map((word) => word.phonemes + (word.space ? ' ' : '')).join('').trimEnd());
  }
  return read;
}

async function decoded(): Promise<number[]> {
  const { text, pitch, energy, durations } = inputs.plan;
  const style = Float32Array.from(inputs.style).slice(0, inputs.style.length / 2);
  const [textFrames, pitchFrames, energyFrames] = [text, pitch, energy].map((row) => Float32Array.from(row)) as Rows;
  const plan = { text: textFrames, pitch: pitchFrames, energy: energyFrames, style, durations };
  const graphs = { plan: await graph('plan.onnx'), filters: await graph('filters.onnx'), refiner: await graph('refiner.onnx') };
  const decoder = new WrenDecoder(graphs, new Float32Array(bytes('noise.f32').buffer));
  const utterance = await decoder.start(plan, heardFrames(plan));
  const samples: number[] = [...(await utterance.advance(utterance.lookahead + 24))];
  while (!utterance.done) samples.push(...(await utterance.advance(36)));
  return samples;
}

type Rows = [Float32Array, Float32Array, Float32Array];

/** Spectra, real parts before imaginary ones, and what their inverses give back. */
function spectra(): Record<string, [number[], number[]]> {
  return Object.fromEntries(
    Object.entries(inputs.frames).map(([size, frame]) => {
      const fft = new RealFft(Number(size));
      const [re, im, back] = [new Float64Array(fft.bins), new Float64Array(fft.bins), new Float64Array(frame.length)];
      fft.forward(Float64Array.from(frame), re, im);
      fft.inverse(re, im, back);
      return [size, [[...re, ...im], [...back]]];
    }),
  );
}

const front = new Front(await graph('front.onnx'));
const { durations } = await front.plan(inputs.ids, Float32Array.from(inputs.style), 1);
const found = { phonemes: await phonemes(), durations, samples: await decoded(), spectra: spectra() };
writeFileSync(results, JSON.stringify(found));
