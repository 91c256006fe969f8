/** Fourier transforms of real frames whose length is twice a product of 2, 4 and 5. */
export class RealFft {
  /** Bins of a spectrum. */
  readonly bins: number;
  private readonly half: number;
  private readonly stages: Stage[];
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;
  private re: Float64Array;
  private im: Float64Array;
  private spareRe: Float64Array;
  private spareIm: Float64Array;

  constructor(readonly size: number) {
    this.half = size / 2;
    this.bins = this.half + 1;
    this.stages = stagesOf(this.half);
    this.cosines = Float64Array.from({ length: this.bins }, (_, bin) => Math.cos((2 * Math.PI * bin) / size));
    this.sines = Float64Array.from({ length: this.bins }, (_, bin) => Math.sin((2 * Math.PI * bin) / size));
    [this.re, this.im, this.spareRe, this.spareIm] = [0, 0, 0, 0].map(() => new Float64Array(this.half)) as Four;
  }

  /** The spectrum of a frame of `size` samples. */
  forward(frame: Float64Array, re: Float64Array, im: Float64Array): void {
    const { half, cosines, sines } = this;
    for (let k = 0; k < half; k++) {
      this.re[k] = frame[2 * k]!;
      this.im[k] = frame[2 * k + 1]!;
    }
    this.transform();
    for (let k = 0; k <= half; k++) {
      const [at, mirror] = [k === half ? 0 : k, k === 0 ? 0 : half - k];
      const evenRe = (this.re[at]! + this.re[mirror]!) / 2;
      const evenIm = (this.im[at]! - this.im[mirror]!) / 2;
      const oddRe = (this.im[at]! + this.im[mirror]!) / 2;
      const oddIm = (this.re[mirror]! - this.re[at]!) / 2;
      re[k] = evenRe + cosines[k]! * oddRe + sines[k]! * oddIm;
      im[k] = evenIm + cosines[k]! * oddIm - sines[k]! * oddRe;
    }
  }

  /** The frame of `size` samples that has this spectrum; imaginary parts of its first and last bin count for nothing. */
  inverse(re: Float64Array, im: Float64Array, frame: Float64Array): void {
    const { half, cosines, sines } = this;
    for (let k = 0; k < half; k++) {
      const mirror = half - k;
      const [ownIm, mirrorIm] = k === 0 ? [0, 0] : [im[k]!, im[mirror]!];
      const oddRe = (re[k]! - re[mirror]!) / 2;
      const oddIm = (ownIm + mirrorIm) / 2;
      const turnedRe = cosines[k]! * oddRe - sines[k]! * oddIm;
      const turnedIm = cosines[k]! * oddIm + sines[k]! * oddRe;
      // An inverse transform is a forward one with real and imaginary parts exchanged.
      this.im[k] = (re[k]! + re[mirror]!) / 2 - turnedIm;
      this.re[k] = (ownIm - mirrorIm) / 2 + turnedRe;
    }
    this.transform();
    for (let k = 0; k < half; k++) {
      frame[2 * k] = this.im[k]! / half;
      frame[2 * k + 1] = this.re[k]! / half;
    }
  }

  private transform(): void {
    for (const stage of this.stages) {
      stage.run(this.re, this.im, this.spareRe, this.spareIm);
      [this.re, this.spareRe] = [this.spareRe, this.re];
      [this.im, this.spareIm] = [this.spareIm, this.im];
    }
  }
}

type Four = [Float64Array, Float64Array, Float64Array, Float64Array];

/** One factor of a transform that leaves its results in order. */
class Stage {
  private readonly twiddleRe: Float64Array;
  private readonly twiddleIm: Float64Array;
  private readonly rootRe: number[];
  private readonly rootIm: number[];

  constructor(private readonly radix: number, private readonly length: number, private readonly stride: number) {
    const count = length / radix;
    this.twiddleRe = new Float64Array(length);
    this.twiddleIm = new Float64Array(length);
    for (let p = 0; p < count; p++) {
      for (let j = 0; j < radix; j++) {
        const angle = (-2 * Math.PI * p * j) / length;
        this.twiddleRe[p * radix + j] = Math.cos(angle);
        this.twiddleIm[p * radix + j] = Math.sin(angle);
      }
    }
    this.rootRe = Array.from({ length: radix }, (_, k) => Math.cos((2 * Math.PI * k) / radix));
    this.rootIm = Array.from({ length: radix }, (_, k) => -Math.sin((2 * Math.PI * k) / radix));
  }

  run(re: Float64Array, im: Float64Array, outRe: Float64Array, outIm: Float64Array): void {
    const run = this.radix === 2 ? this.byTwo : this.radix === 4 ? this.byFour : this.byAny;
    run.call(this, re, im, outRe, outIm);
  }

  private byTwo(re: Float64Array, im: Float64Array, outRe: Float64Array, outIm: Float64Array): void {
    const { length, stride, twiddleRe, twiddleIm } = this;
    const count = length / 2;
    for (let p = 0; p < count; p++) {
      const [wRe, wIm] = [twiddleRe[2 * p + 1]!, twiddleIm[2 * p + 1]!];
      for (let q = 0; q < stride; q++) {
        const [a, b, to] = [q + stride * p, q + stride * (p + count), q + stride * 2 * p];
        const [dRe, dIm] = [re[a]! - re[b]!, im[a]! - im[b]!];
        outRe[to] = re[a]! + re[b]!;
        outIm[to] = im[a]! + im[b]!;
        outRe[to + stride] = dRe * wRe - dIm * wIm;
        outIm[to + stride] = dRe * wIm + dIm * wRe;
      }
    }
  }

  private byFour(re: Float64Array, im: Float64Array, outRe: Float64Array, outIm: Float64Array): void {
    const { length, stride, twiddleRe, twiddleIm } = this;
    const count = length / 4;
    const step = stride * count;
    for (let p = 0; p < count; p++) {
      const at = 4 * p;
      for (let q = 0; q < stride; q++) {
        const a = q + stride * p;
        const [b, c, d] = [a + step, a + 2 * step, a + 3 * step];
        const [sumRe, sumIm, gapRe, gapIm] = [re[a]! + re[c]!, im[a]! + im[c]!, re[a]! - re[c]!, im[a]! - im[c]!];
        const [oddRe, oddIm, turnRe, turnIm] = [re[b]! + re[d]!, im[b]! + im[d]!, im[b]! - im[d]!, re[d]! - re[b]!];
        let to = q + stride * 4 * p;
        outRe[to] = sumRe + oddRe;
        outIm[to] = sumIm + oddIm;
        to += stride;
        let [x, y] = [gapRe + turnRe, gapIm + turnIm];
        outRe[to] = x * twiddleRe[at + 1]! - y * twiddleIm[at + 1]!;
        outIm[to] = x * twiddleIm[at + 1]! + y * twiddleRe[at + 1]!;
        to += stride;
        [x, y] = [sumRe - oddRe, sumIm - oddIm];
        outRe[to] = x * twiddleRe[at + 2]! - y * twiddleIm[at + 2]!;
        outIm[to] = x * twiddleIm[at + 2]! + y * twiddleRe[at + 2]!;
        to += stride;
        [x, y] = [gapRe - turnRe, gapIm - turnIm];
        outRe[to] = x * twiddleRe[at + 3]! - y * twiddleIm[at + 3]!;
        outIm[to] = x * twiddleIm[at + 3]! + y * twiddleRe[at + 3]!;
      }
    }
  }

  private byAny(re: Float64Array, im: Float64Array, outRe: Float64Array, outIm: Float64Array): void {
    const { radix, length, stride, rootRe, rootIm, twiddleRe, twiddleIm } = this;
    const count = length / radix;
    for (let p = 0; p < count; p++) {
      for (let q = 0; q < stride; q++) {
        for (let j = 0; j < radix; j++) {
          let [x, y] = [0, 0];
          for (let k = 0; k < radix; k++) {
            const from = q + stride * (p + count * k);
            const [wRe, wIm] = [rootRe[(j * k) % radix]!, rootIm[(j * k) % radix]!];
            x += re[from]! * wRe - im[from]! * wIm;
            y += re[from]! * wIm + im[from]! * wRe;
          }
          const [to, at] = [q + stride * (radix * p + j), p * radix + j];
          outRe[to] = x * twiddleRe[at]! - y * twiddleIm[at]!;
          outIm[to] = x * twiddleIm[at]! + y * twiddleRe[at]!;
        }
      }
    }
  }
}

function stagesOf(size: number): Stage[] {
  const stages: Stage[] = [];
  let [length, stride] = [size, 1];
  while (length > 1) {
    const radix = [4, 2, 5].find((each) => length % each === 0);
    if (radix === undefined) throw new RangeError(`a transform of ${2 * size} samples is not supported`);
    stages.push(new Stage(radix, length, stride));
    length /= radix;
    stride *= radix;
  }
  return stages;
}
