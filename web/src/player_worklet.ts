// The scope of an audio worklet, which TypeScript's libraries do not have.
declare const sampleRate: number;
declare function registerProcessor(name: string, processor: unknown): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

/** Seconds between reports of how far the listener is. */
const REPORT = 0.02;

/** Plays samples in the order in which they come, and silence where they come too late. */
class PlayerProcessor extends AudioWorkletProcessor {
  private readonly pieces: Float32Array[] = [];
  private at = 0;
  private played = 0;
  private reported = 0;
  private last = false;
  private ended = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<Float32Array | 'last' | 'stop'>) => {
      if (data === 'last') this.last = true;
      else if (data === 'stop') this.end();
      else this.pieces.push(data);
    };
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const output = outputs[0]![0]!;
    let filled = 0;
    while (filled < output.length && this.pieces.length) {
      const part = this.pieces[0]!.subarray(this.at, this.at + output.length - filled);
      output.set(part, filled);
      filled += part.length;
      this.at += part.length;
      if (this.at === this.pieces[0]!.length) {
        this.pieces.shift();
        this.at = 0;
      }
    }
    this.played += filled;
    if (this.played - this.reported >= REPORT * sampleRate || (filled && !this.pieces.length)) {
      this.reported = this.played;
      this.port.postMessage(this.played / sampleRate);
    }
    if (this.last && !this.pieces.length) this.end();
    return !this.ended;
  }

  private end(): void {
    if (!this.ended) this.port.postMessage('ended');
    this.ended = true;
    this.pieces.length = 0;
  }
}

registerProcessor('polyvox-player', PlayerProcessor);
