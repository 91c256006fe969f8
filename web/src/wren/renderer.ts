import { alignedWords } from './chunks';
import type { AlignedWord, Chunk } from './chunks';
import { SAMPLE_RATE } from './plan';

const WINDOW = 240;
// Quiet samples that stay on each side of the speech, so that soft onsets and decays are heard whole.
const LEAD_IN = 720;
const LEAD_OUT = 960;
const FADE = 120;
const SILENCE = 10 ** (-42 / 20);
const USUAL_PEAK = 0.3;

/** Samples that can be heard, and the words that end in them, in samples from the first one that the chunk gave. */
export interface RenderedPiece {
  pcm: Float32Array<ArrayBuffer>;
  words: AlignedWord[];
}

/** One chunk on its way to the listener: silence around it is cut off, and a piece ends where the next word begins. */
export class StreamRenderer {
  /** Places at which pieces may end, in the decoder's samples. */
  readonly cuts: number[];
  private readonly words: AlignedWord[];
  private raw = new Float32Array(0);
  private start = -1;
  private rendered = 0;
  private given = 0;
  private peak = 0;
  private audible = 0;

  constructor(
    private readonly chunk: Chunk,
    durations: readonly number[],
    private readonly speed: number,
    private readonly gain: number,
  ) {
    this.words = alignedWords(chunk, durations);
    this.cuts = this.words.slice(1).map((word) => word.samples.start);
  }

  /** The next piece of the chunk; null where nothing can be heard yet. */
  push(pcm: Float32Array, last: boolean): RenderedPiece | null {
    const known = this.raw.length;
    const raw = new Float32Array(known + pcm.length);
    raw.set(this.raw);
    raw.set(pcm, known);
    this.raw = raw;
    this.listen(known, last);
    if (this.start < 0) {
      if (!last) return null;
      this.start = this.rendered = 0;
    }
    const until = Math.min(raw.length, this.audible + LEAD_OUT);
    const end = last ? Math.max(until, this.rendered) : this.cut(Math.min(raw.length, until - FADE));
    if (end === this.rendered && !last) return null;
    return this.piece(end, last);
  }

  /** Find the first and the last window that are heard; how loud a chunk becomes is not known until its end. */
  private listen(from: number, last: boolean): void {
    const peaks: [number, number][] = [];
    const first = last ? 0 : Math.floor(from / WINDOW) * WINDOW;
    for (let at = first; at < this.raw.length; at += WINDOW) {
      let peak = 0;
      for (const sample of this.raw.subarray(at, at + WINDOW)) peak = Math.max(peak, Math.abs(sample));
      peaks.push([at, peak]);
      this.peak = Math.max(this.peak, peak);
    }
    const floor = Math.max((last ? this.peak : Math.max(this.peak, USUAL_PEAK)) * SILENCE, 1e-4);
    if (last) this.audible = 0;
    for (const [at, peak] of peaks) {
      if (peak <= floor) continue;
      if (this.start < 0) this.begin(Math.max(0, at - LEAD_IN));
      this.audible = at + WINDOW;
    }
  }

  private begin(start: number): void {
    this.start = this.rendered = start;
  }

  /** The last place to end a piece that is not behind this one. */
  private cut(until: number): number {
    return this.cuts.reduce((best, cut) => (cut <= until ? Math.max(best, cut) : best), this.rendered);
  }

  private piece(end: number, last: boolean): RenderedPiece {
    const edges = (LEAD_IN + LEAD_OUT) / SAMPLE_RATE;
    const pause = last ? Math.max(0, Math.round((this.chunk.pause / this.speed - edges) * SAMPLE_RATE)) : 0;
    const pcm = new Float32Array(end - this.rendered + pause);
    for (let at = this.rendered; at < end; at++) {
      const rise = Math.min(1, (at - this.start + 0.5) / FADE);
      const fall = last ? Math.min(1, (end - at - 0.5) / FADE) : 1;
      pcm[at - this.rendered] = this.gain * this.raw[at]! * cosine(rise) * cosine(fall);
    }
    this.rendered = end;
    return { pcm, words: this.ready(last) };
  }

  /** The words that are rendered to their end and were not given yet. */
  private ready(last: boolean): AlignedWord[] {
    const first = this.given;
    while (this.given < this.words.length && (last || this.words[this.given]!.samples.end <= this.rendered)) this.given++;
    return this.words.slice(first, this.given).map(({ span, samples }) => ({
      span,
      samples: { start: Math.max(0, samples.start - this.start), end: Math.max(0, samples.end - this.start) },
    }));
  }
}

/** A raised cosine from 0 to 1. */
function cosine(share: number): number {
  return share >= 1 ? 1 : 0.5 - 0.5 * Math.cos(Math.PI * share);
}
