import { RealFft } from './fft';
import { OverlapAdd, hann } from './overlap';
import { HOP, SAMPLE_RATE } from './plan';

const WINDOW = 600;
const FFT = 1024;
const NOISE_FRAMES = 4;
const NOISE_WINDOW = 150;
const NOISE_FFT = 256;
const NOISE_BANDS = 65;
/** Harmonics of the pitch by which the noise is amplitude-modulated. */
const HARMONICS = 2;
const BINS = FFT / 2 + 1;
const MODULATION = 2 * HARMONICS;
/** Filter parameters of a frame: log-magnitude and phase for pulses, log-magnitudes for noise, modulation. */
const OUTPUTS = 2 * BINS + NOISE_FRAMES * NOISE_BANDS + MODULATION;
export const VOICED_ABOVE_HZ = 10;
const HIGHEST_HARMONIC_HZ = 11_500;
const LOWEST_PITCH = 40;
const NEAR_ZERO = 1e-4;
const HALF = HOP / 2;
const NOISE_HOP = NOISE_WINDOW / 2;
const NOISE_BEFORE = Math.floor((NOISE_WINDOW - NOISE_HOP) / 2);
const TAPS = (FFT - WINDOW) / 2;
const NOISE_TAPS = (NOISE_FFT - NOISE_WINDOW) / 2;

const HANN = hann(WINDOW);
const NOISE_HANN = hann(NOISE_WINDOW);

/** Phase of the pitch at the centre of each frame, in cycles within [0, 1): a sum over the whole utterance. */
export function phaseCycles(pitch: Float32Array): Float32Array {
  const phase = new Float32Array(pitch.length);
  let sum = 0;
  for (let i = 0; i < pitch.length; i++) {
    sum += (pitch[i]! * HOP) / SAMPLE_RATE;
    phase[i] = sum % 1;
  }
  return phase;
}

/** The source-filter signal of one utterance: pulses and modulated noise. `samples` may be read up to `final`. */
export class SourceFilter {
  private readonly frames: number;
  // Half a frame of padding: what lies between the centres of two frames is one row.
  private readonly pulses: Float32Array;
  private readonly noise: Float32Array;
  private readonly cosine: Float32Array;
  private readonly sine: Float32Array;
  private readonly modulated: Float32Array;
  private readonly modulation: Float32Array;
  private readonly logNoise: Float32Array;
  private readonly pulseSignal: OverlapAdd;
  private readonly noiseSignal: OverlapAdd;
  private readonly pulseFilter = new Filter(WINDOW, FFT, HANN);
  private readonly noiseFilter = new Filter(NOISE_WINDOW, NOISE_FFT, NOISE_HANN);
  private segments = 0;

  constructor(pitch: Float32Array, phase: Float32Array, noise: Float32Array) {
    const frames = (this.frames = pitch.length);
    const padded = (frames + 1) * HOP;
    [this.pulses, this.noise, this.cosine, this.sine, this.modulated] = Array.from(
      { length: 5 },
      () => new Float32Array(padded),
    ) as Five;
    this.noise.set(noise, HALF);
    this.fill(pitch, phase);
    this.modulation = new Float32Array((frames + 2) * MODULATION);
    this.logNoise = new Float32Array(NOISE_FRAMES * frames * NOISE_BANDS);
    this.pulseSignal = new OverlapAdd(frames, HOP, FFT, HALF + TAPS, frames * HOP);
    const offset = NOISE_BEFORE + NOISE_TAPS;
    this.noiseSignal = new OverlapAdd(NOISE_FRAMES * frames, NOISE_HOP, NOISE_FFT, offset, frames * HOP);
  }

  get final(): number {
    return Math.min(this.pulseSignal.final, this.noiseSignal.final);
  }

  samples(start: number, end: number): Float32Array {
    const noise = this.noiseSignal.samples(start, end);
    return this.pulseSignal.samples(start, end).map((sample, i) => sample + noise[i]!);
  }

  /** Take the filter parameters of the next frames, [n, OUTPUTS]. */
  add(filters: Float32Array): void {
    const first = this.pulseSignal.added;
    const count = filters.length / OUTPUTS;
    for (let i = 0; i < count; i++) {
      const row = filters.subarray(i * OUTPUTS, (i + 1) * OUTPUTS);
      this.logNoise.set(row.subarray(2 * BINS, OUTPUTS - MODULATION), (first + i) * NOISE_FRAMES * NOISE_BANDS);
      this.modulation.set(row.subarray(OUTPUTS - MODULATION), (first + i + 1) * MODULATION);
      this.addPulses(first + i, row);
    }
    const end = first + count;
    if (first === 0) this.modulation.copyWithin(0, MODULATION, 2 * MODULATION);
    if (end === this.frames) {
      this.modulation.copyWithin((end + 1) * MODULATION, end * MODULATION, (end + 1) * MODULATION);
    }
    this.addNoise(end);
  }

  /** Pulses, cosine and sine of the pitch at every sample; all harmonics below 11.5 kHz at unit power. */
  private fill(pitch: Float32Array, phase: Float32Array): void {
    const advance = pitch.map((hertz) => hertz * (HOP / SAMPLE_RATE));
    for (let frame = 0; frame < pitch.length; frame++) {
      if (pitch[frame]! <= VOICED_ABOVE_HZ) continue;
      const count = Math.floor(HIGHEST_HARMONIC_HZ / Math.max(pitch[frame]!, LOWEST_PITCH));
      const level = 0.5 * Math.sqrt(2 / count);
      for (let i = 0; i < HOP; i++) {
        const position = (i + 0.5) / HOP - 0.5;
        const slope = position < 0 ? advance[frame]! : (advance[frame + 1] ?? 0);
        let cycles = Math.fround(phase[frame]! + Math.fround(position * slope));
        cycles -= Math.round(cycles);
        const sine = Math.sin(Math.PI * cycles);
        const all = 2 * count + 1;
        const kernel = Math.abs(sine) < NEAR_ZERO ? all : Math.sin(all * Math.PI * cycles) / sine;
        const at = HALF + frame * HOP + i;
        this.pulses[at] = level * (kernel - 1);
        this.cosine[at] = Math.cos(2 * Math.PI * cycles);
        this.sine[at] = Math.sin(2 * Math.PI * cycles);
      }
    }
  }

  private addPulses(frame: number, row: Float32Array): void {
    const { re, im } = this.pulseFilter.response;
    for (let bin = 0; bin < BINS; bin++) {
      const magnitude = Math.exp(limited(row[bin]!, -12, 6));
      re[bin] = magnitude * Math.cos(row[BINS + bin]!);
      im[bin] = magnitude * Math.sin(row[BINS + bin]!);
    }
    this.pulseSignal.add(this.pulseFilter.run(this.pulses, frame * HOP));
  }

  /** Filter the noise whose modulation is known by the filters of so many frames. */
  private addNoise(end: number): void {
    const last = end === this.frames;
    const until = last ? end + 1 : end;
    for (; this.segments < until; this.segments++) this.modulate(this.segments);
    const frames = NOISE_FRAMES * (last ? end : end - 1);
    for (let frame = this.noiseSignal.added; frame < frames; frame++) {
      const bands = this.logNoise.subarray(frame * NOISE_BANDS, (frame + 1) * NOISE_BANDS);
      const { re } = this.noiseFilter.response;
      // Linearly from equally spaced bands to bins: there are two to a band.
      for (let band = 0; band < NOISE_BANDS; band++) {
        re[2 * band] = Math.exp(limited(bands[band]!, -14, 4));
        if (band) re[2 * band - 1] = Math.exp(limited((bands[band - 1]! + bands[band]!) / 2, -14, 4));
      }
      const start = HALF - NOISE_BEFORE + frame * NOISE_HOP;
      this.noiseSignal.add(this.noiseFilter.run(this.modulated, start));
    }
  }

  /** Modulate the noise between the centres of two frames, linearly from the one's parameters to the other's. */
  private modulate(segment: number): void {
    const before = this.modulation.subarray(segment * MODULATION, (segment + 1) * MODULATION);
    const after = this.modulation.subarray((segment + 1) * MODULATION, (segment + 2) * MODULATION);
    for (let i = 0; i < HOP; i++) {
      const at = segment * HOP + i;
      const share = (i + 0.5) / HOP;
      const cosine = this.cosine[at]!;
      const sine = this.sine[at]!;
      const depth = (k: number): number => before[k]! + share * (after[k]! - before[k]!);
      const second = depth(1) * (cosine * cosine - sine * sine) + depth(3) * 2 * cosine * sine;
      this.modulated[at] = this.noise[at]! * (1 + depth(0) * cosine + depth(2) * sine + second);
    }
  }
}

type Five = [Float32Array, Float32Array, Float32Array, Float32Array, Float32Array];

/** Filters one windowed frame at a time, in the middle of a longer one: there a filter reaches as far to either side. */
class Filter {
  /** The filter's frequency response; set it before each run. */
  readonly response: { re: Float64Array; im: Float64Array };
  private readonly fft: RealFft;
  private readonly frame: Float64Array;
  private readonly re: Float64Array;
  private readonly im: Float64Array;
  private readonly before: number;

  constructor(
    private readonly width: number,
    size: number,
    private readonly window: Float32Array,
  ) {
    this.fft = new RealFft(size);
    this.frame = new Float64Array(size);
    this.re = new Float64Array(this.fft.bins);
    this.im = new Float64Array(this.fft.bins);
    this.response = { re: new Float64Array(this.fft.bins), im: new Float64Array(this.fft.bins) };
    this.before = (size - width) / 2;
  }

  /** The filtered frame of a signal; it is overwritten by the next one. */
  run(signal: Float32Array, start: number): Float64Array {
    const { re, im, response } = this;
    this.frame.fill(0);
    for (let i = 0; i < this.width; i++) this.frame[this.before + i] = signal[start + i]! * this.window[i]!;
    this.fft.forward(this.frame, re, im);
    for (let bin = 0; bin < re.length; bin++) {
      const x = re[bin]!;
      re[bin] = x * response.re[bin]! - im[bin]! * response.im[bin]!;
      im[bin] = x * response.im[bin]! + im[bin]! * response.re[bin]!;
    }
    this.fft.inverse(re, im, this.frame);
    return this.frame;
  }
}

function limited(value: number, lowest: number, highest: number): number {
  return Math.min(Math.max(value, lowest), highest);
}
