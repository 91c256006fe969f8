import { Graph, floats, floatsOf, integers } from './graph';
import type { UtterancePlan } from './plan';

const PADDING = 0;

/** Kokoro's front: phonemes to durations, aligned text, pitch and energy. */
export class Front {
  constructor(private readonly graph: Graph) {}

  /** Plan a chunk: token ids without padding, and the row of a voice pack for their number. */
  async plan(ids: readonly number[], style: Float32Array, speed: number): Promise<UtterancePlan> {
    const result = await this.graph.run({
      input_ids: integers([PADDING, ...ids, PADDING], 1, ids.length + 2),
      style: floats(style, 1, style.length),
      speed: floats(Float32Array.of(speed), 1),
    });
    return {
      text: floatsOf(result.text),
      pitch: floatsOf(result.pitch),
      energy: floatsOf(result.energy),
      style: style.slice(0, style.length / 2),
      durations: Array.from(floatsOf(result.durations)),
    };
  }
}
