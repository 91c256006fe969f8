/**
 * Overlap-add of frames of `size` samples, `hop` apart; the first `offset` samples of the first frame are cut off.
 *
 * `count` frames make `length` samples. A sample is final once no frame to come reaches it.
 */
export class OverlapAdd {
  added = 0;
  private readonly signal: Float32Array;

  constructor(
    private readonly count: number,
    private readonly hop: number,
    size: number,
    private readonly offset: number,
    private readonly length: number,
  ) {
    this.signal = new Float32Array((count + Math.ceil(size / hop) - 1) * hop);
  }

  add(frame: Float64Array): void {
    const start = this.added++ * this.hop;
    for (let i = 0; i < frame.length; i++) this.signal[start + i]! += frame[i]!;
  }

  /** Number of samples from the start that are final. */
  get final(): number {
    if (this.added === this.count) return this.length;
    return Math.min(this.length, Math.max(0, this.added * this.hop - this.offset));
  }

  samples(start: number, end: number): Float32Array {
    return this.signal.subarray(this.offset + start, this.offset + end);
  }
}

/** The periodic Hann window. */
export function hann(size: number): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
}
