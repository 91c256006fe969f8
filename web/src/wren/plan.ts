/** Samples of a frame of pitch and energy; a frame of text and durations has two of them. */
export const HOP = 300;
export const SAMPLE_RATE = 24_000;

/** The plan of an utterance by Kokoro's front, before it is decoded. */
export interface UtterancePlan {
  /** Aligned text [width, n], row by row. */
  text: Float32Array;
  /** Pitch in hertz [2 n]. */
  pitch: Float32Array;
  energy: Float32Array;
  /** Acoustic half of the voice's style. */
  style: Float32Array;
  /** Frames of text of each id, the padding at both ends included. */
  durations: number[];
}

/** A range of frames or samples: from `start` up to, and without, `end`. */
export interface Span {
  start: number;
  end: number;
}

const FRAME_SAMPLES = 600;
/** Words are heard three frames before their predicted ones. */
const LEAD_SAMPLES = 3 * FRAME_SAMPLES;
/** Silent frames that are decoded before and after what is heard. */
export const MARGIN = 12;
const END_MARGIN = 8;
const AUDIBLE_ENERGY = -3;

/** The sample at which each id is heard to begin, and at the end that at which the last one ends. */
export function phonemeEdges(durations: readonly number[]): number[] {
  const edges = [-LEAD_SAMPLES];
  for (const frames of durations) edges.push(edges[edges.length - 1]! + frames * FRAME_SAMPLES);
  return edges;
}

/** The frames of a plan that are heard, with a margin; the silence around them is not decoded. */
export function heardFrames(plan: UtterancePlan): Span {
  const frames = plan.energy.length;
  const first = Math.floor(phonemeEdges(plan.durations)[1]! / HOP);
  const audible = plan.energy.findIndex((energy) => energy > AUDIBLE_ENERGY);
  const last = plan.energy.findLastIndex((energy) => energy > AUDIBLE_ENERGY);
  const [start, end] = audible < 0 ? [first, frames] : [Math.min(first, audible), last + 1];
  return { start: Math.max(0, start - MARGIN), end: Math.min(end + END_MARGIN, frames) };
}
