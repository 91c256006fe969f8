import { phonemesOf } from './chunks';
import type { Chunk } from './chunks';
import type { WrenDecoder } from './decoder';
import type { Front } from './front';
import { HOP, MARGIN, heardFrames } from './plan';
import { StreamRenderer } from './renderer';
import type { RenderedPiece } from './renderer';

/** In frames of 12.5 ms. The first piece ends behind the first word, and is at least so long. Larger ones cost less. */
const [FIRST_PIECE, SECOND_PIECE, LARGEST_PIECE] = [24, 36, 108];
const STYLE = 256;

/** A voice: its style for each number of phonemes, and the gain that brings it to the common loudness. */
export interface LoadedVoice {
  /** [510, 256]. */
  pack: Float32Array;
  gain: number;
}

/** Kokoro's front and Wren's decoder as one network: the front plans a whole chunk, the decoder sounds it in pieces. */
export class WrenModel {
  constructor(
    private readonly front: Front,
    private readonly decoder: WrenDecoder,
    private readonly ids: Record<string, number>,
  ) {}

  /** A chunk as it is heard, piece by piece. */
  async *render(chunk: Chunk, voice: LoadedVoice, speed: number): AsyncGenerator<RenderedPiece> {
    const ids = Array.from(phonemesOf(chunk), (symbol) => this.ids[symbol]).filter((id) => id !== undefined);
    if (!ids.length) return;
    const row = Math.min(ids.length, voice.pack.length / STYLE) - 1;
    const plan = await this.front.plan(ids, voice.pack.slice(row * STYLE, (row + 1) * STYLE), speed);
    const renderer = new StreamRenderer(chunk, plan.durations, speed, voice.gain);
    const heard = heardFrames(plan);
    const utterance = await this.decoder.start(plan, heard);
    const first = firstCut(renderer.cuts, heard.start, heard.end) - heard.start;
    let frames = utterance.lookahead + Math.max(1, first);
    let next = SECOND_PIECE;
    while (!utterance.done) {
      const pcm = await utterance.advance(frames);
      const piece = renderer.push(pcm, utterance.done);
      if (piece) yield piece;
      [frames, next] = [next, Math.min(2 * next, LARGEST_PIECE)];
    }
  }
}

/** The frame at the end of the first words that make a piece. */
function firstCut(cuts: readonly number[], start: number, end: number): number {
  const frames = cuts.map((cut) => Math.ceil(cut / HOP));
  return frames.find((frame) => frame >= start + MARGIN + FIRST_PIECE) ?? end;
}
