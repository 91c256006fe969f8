import { RealFft } from './fft';
import { Graph, floats, floatsOf } from './graph';
import { OverlapAdd, hann } from './overlap';
import { HOP } from './plan';
import type { Span, UtterancePlan } from './plan';
import { SourceFilter, VOICED_ABOVE_HZ, phaseCycles } from './source';

/** Rows on either side that a block's convolution sees. */
const REACH = 3;
const SPREAD_FRAMES = 192;
const REFERENCE_PITCH = 150;
const LOWEST_PITCH = 20;
const ENERGY_SCALE = 5;
const REFINER_HOP = 100;
const REFINER_FFT = 400;
const REFINER_BINS = REFINER_FFT / 2 + 1;
const PER_FRAME = 3;
const REFINER_EDGE = (REFINER_FFT - REFINER_HOP) / 2;
const WINDOW_POWER = 1.5;
const TINY = 1e-8;
const REFINER_HANN = hann(REFINER_FFT);

/** Wren's three graphs. */
export interface WrenGraphs {
  plan: Graph;
  filters: Graph;
  refiner: Graph;
}

/** Wren: an utterance's plan to its samples, piece by piece. The same plan gives the same samples. */
export class WrenDecoder {
  /** Noise is standard normal, and the same for every utterance; beyond its end it begins again. */
  constructor(private readonly graphs: WrenGraphs, private readonly noise: Float32Array) {}

  /** Begin an utterance. Frames that are not `within` are not decoded, and silent. */
  async start(plan: UtterancePlan, within: Span): Promise<DecodingUtterance> {
    const phase = phaseCycles(plan.pitch);
    const frames = plan.pitch.length;
    const result = await this.graphs.plan.run({
      text: floats(plan.text, 1, (2 * plan.text.length) / frames, frames / 2),
      curves: floats(curves(plan, phase), 1, 5, frames),
      style: floats(plan.style, 1, plan.style.length),
      utterance: spreadFrames(plan),
    });
    const blocks = new BlockStream(this.graphs.filters, result.film!);
    const width = result.hidden!.dims[1]!;
    const rows = floatsOf(result.hidden).subarray(within.start * width, within.end * width);
    const noise = new Float32Array((within.end - within.start) * HOP);
    for (let i = 0; i < noise.length; i++) noise[i] = this.noise[(within.start * HOP + i) % this.noise.length]!;
    const source = new SourceFilter(
      plan.pitch.subarray(within.start, within.end),
      phase.subarray(within.start, within.end),
      noise,
    );
    const refiner = new Refiner(this.graphs.refiner, result.refiner_film!, within.end - within.start);
    return new DecodingUtterance(rows, width, blocks, source, refiner, within, frames);
  }
}

/** One utterance on its way through the decoder. */
export class DecodingUtterance {
  /** Frames to advance before the first sample comes. */
  readonly lookahead: number;
  private readonly frames: number;
  private fed = 0;
  private emitted = 0;

  constructor(
    private readonly rows: Float32Array,
    private readonly width: number,
    private readonly blocks: BlockStream,
    private readonly source: SourceFilter,
    private readonly refiner: Refiner,
    private readonly within: Span,
    private readonly total: number,
  ) {
    this.frames = within.end - within.start;
    this.lookahead = blocks.delay + refiner.lookahead + 2;
  }

  get done(): boolean {
    return this.fed === this.frames;
  }

  /** Decode so many more frames, the first time more than `lookahead`; gives the samples that are final then. */
  async advance(frames: number): Promise<Float32Array> {
    const start = this.fed;
    this.fed = Math.min(this.fed + frames, this.frames);
    const part = this.rows.subarray(start * this.width, this.fed * this.width);
    const rows = floats(part, this.fed - start, this.width);
    const { hidden, filters } = await this.blocks.run({ rows }, this.done);
    this.source.add(floatsOf(filters));
    await this.refiner.add(this.source, floatsOf(hidden), this.width, this.done);
    const from = this.emitted;
    this.emitted = this.refiner.final;
    const samples = this.refiner.samples(from, this.emitted);
    const before = start === 0 ? this.within.start * HOP : 0;
    const after = this.done ? (this.total - this.within.end) * HOP : 0;
    const piece = new Float32Array(before + samples.length + after);
    piece.set(samples, before);
    return piece;
  }
}

/** A graph of blocks with their state. */
class BlockStream {
  readonly delay: number;
  private readonly width: number;
  private state: Tensors[string];

  constructor(
    private readonly graph: Graph,
    private readonly film: Tensors[string],
  ) {
    const [blocks, , width] = film.dims as [number, number, number];
    this.width = width;
    this.delay = blocks * REACH;
    this.state = floats(new Float32Array(blocks * REACH * width), blocks, REACH, width);
  }

  async run(inputs: Tensors, last: boolean): Promise<Tensors> {
    const count = last ? REACH : 0;
    const tail = floats(new Float32Array(count * this.width), count, this.width);
    const results = await this.graph.run({ ...inputs, film: this.film, state: this.state, tail });
    this.state = results.next_state!;
    return results;
  }
}

type Tensors = Awaited<ReturnType<Graph['run']>>;

/** Corrects short spectra of the source-filter signal. */
class Refiner {
  readonly lookahead: number;
  private readonly stream: BlockStream;
  private readonly signal: OverlapAdd;
  private readonly fft = new RealFft(REFINER_FFT);
  private readonly frame = new Float64Array(REFINER_FFT);
  private readonly re = new Float64Array(REFINER_BINS);
  private readonly im = new Float64Array(REFINER_BINS);
  private hidden = new Float32Array(0);
  private compressed: Float32Array[] = [];
  private seen = 0;

  constructor(graph: Graph, film: Tensors[string], private readonly frames: number) {
    this.stream = new BlockStream(graph, film);
    this.signal = new OverlapAdd(frames * PER_FRAME, REFINER_HOP, REFINER_FFT, REFINER_EDGE, frames * HOP);
    this.lookahead = Math.ceil((this.stream.delay + 2) / PER_FRAME);
  }

  get final(): number {
    return this.signal.final;
  }

  samples(start: number, end: number): Float32Array {
    return this.signal.samples(start, end);
  }

  /** Correct what has become final of the source; `hidden` are the states of the next frames. */
  async add(source: SourceFilter, hidden: Float32Array, width: number, last: boolean): Promise<void> {
    this.hidden = joined(this.hidden, hidden);
    const end = last ? this.frames : Math.max(0, Math.floor((source.final - REFINER_EDGE) / HOP));
    if (end <= this.seen) return;
    const count = end - this.seen;
    const spectra = this.analyse(source, this.seen, end);
    const { corrections } = await this.stream.run(
      {
        spectra: floats(spectra, count * PER_FRAME, 2 * REFINER_BINS),
        hidden: floats(this.hidden.subarray(0, count * width), count, width),
      },
      last,
    );
    for (let i = 0; i < count * PER_FRAME; i++) {
      this.compressed.push(spectra.subarray(i * 2 * REFINER_BINS, (i + 1) * 2 * REFINER_BINS));
    }
    this.seen = end;
    this.hidden = this.hidden.slice(count * width);
    const given = floatsOf(corrections);
    const due = this.compressed.splice(0, given.length / (4 * REFINER_BINS));
    due.forEach((spectrum, i) => this.signal.add(this.corrected(spectrum, given, i * 4 * REFINER_BINS)));
  }

  /** Spectra of frames `start` to `end`, divided by the root of their magnitudes; silence surrounds the utterance. */
  private analyse(source: SourceFilter, start: number, end: number): Float32Array {
    const [first, after] = [start * HOP - REFINER_EDGE, end * HOP + REFINER_EDGE];
    const padded = new Float32Array(after - first);
    padded.set(source.samples(Math.max(0, first), Math.min(after, this.frames * HOP)), Math.max(0, -first));
    const count = (end - start) * PER_FRAME;
    const spectra = new Float32Array(count * 2 * REFINER_BINS);
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < REFINER_FFT; k++) this.frame[k] = padded[i * REFINER_HOP + k]! * REFINER_HANN[k]!;
      this.fft.forward(this.frame, this.re, this.im);
      const at = i * 2 * REFINER_BINS;
      for (let bin = 0; bin < REFINER_BINS; bin++) {
        const [re, im] = [this.re[bin]!, this.im[bin]!];
        const root = Math.sqrt(Math.sqrt(re * re + im * im + TINY));
        spectra[at + bin] = re / root;
        spectra[at + REFINER_BINS + bin] = im / root;
      }
    }
    return spectra;
  }

  /** Multiply by a complex number near 1, add another, expand, and transform back. */
  private corrected(spectrum: Float32Array, corrections: Float32Array, at: number): Float64Array {
    for (let bin = 0; bin < REFINER_BINS; bin++) {
      const [re, im] = [spectrum[bin]!, spectrum[REFINER_BINS + bin]!];
      const [scaled, turned] = [corrections[at + bin]! + 1, corrections[at + REFINER_BINS + bin]!];
      const x = re * scaled - im * turned + corrections[at + 2 * REFINER_BINS + bin]!;
      const y = im * scaled + re * turned + corrections[at + 3 * REFINER_BINS + bin]!;
      const magnitude = Math.sqrt(x * x + y * y + TINY);
      this.re[bin] = x * magnitude;
      this.im[bin] = y * magnitude;
    }
    this.fft.inverse(this.re, this.im, this.frame);
    for (let k = 0; k < REFINER_FFT; k++) this.frame[k]! *= REFINER_HANN[k]! / WINDOW_POWER;
    return this.frame;
  }
}

/** Log-pitch, voicing, energy and phase of each frame [5, frames]. */
function curves(plan: UtterancePlan, phase: Float32Array): Float32Array {
  const frames = plan.pitch.length;
  const rows = new Float32Array(5 * frames);
  for (let i = 0; i < frames; i++) {
    const voiced = plan.pitch[i]! > VOICED_ABOVE_HZ ? 1 : 0;
    const angle = 2 * Math.PI * phase[i]!;
    rows[i] = voiced * Math.log(Math.max(plan.pitch[i]!, LOWEST_PITCH) / REFERENCE_PITCH);
    rows[frames + i] = voiced;
    rows[2 * frames + i] = plan.energy[i]! / ENERGY_SCALE;
    rows[3 * frames + i] = voiced * Math.cos(angle);
    rows[4 * frames + i] = voiced * Math.sin(angle);
  }
  return rows;
}

/** Frames evenly spread over the utterance, with its length: what the utterance encoder sees of it. */
function spreadFrames(plan: UtterancePlan): Tensors[string] {
  const count = plan.pitch.length / 2;
  const channels = plan.text.length / count;
  const columns = channels + 7;
  const rows = new Float32Array(SPREAD_FRAMES * columns);
  for (let i = 0; i < SPREAD_FRAMES; i++) {
    const share = Math.fround(Math.fround(i + 0.5) / SPREAD_FRAMES);
    const chosen = Math.trunc(Math.fround(share * count));
    const at = i * columns;
    for (let channel = 0; channel < channels; channel++) rows[at + channel] = plan.text[channel * count + chosen]!;
    for (let half = 0; half < 2; half++) {
      const pitch = plan.pitch[2 * chosen + half]!;
      const voiced = pitch > VOICED_ABOVE_HZ ? 1 : 0;
      rows[at + channels + half] = voiced * Math.log(Math.max(pitch, VOICED_ABOVE_HZ) / REFERENCE_PITCH);
      rows[at + channels + 2 + half] = voiced;
      rows[at + channels + 4 + half] = plan.energy[2 * chosen + half]! / ENERGY_SCALE;
    }
    rows[at + channels + 6] = Math.log(count / SPREAD_FRAMES);
  }
  return floats(rows, SPREAD_FRAMES, columns);
}

function joined(first: Float32Array, second: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
