/** Plays PCM as it arrives, through WebAudio: for browsers whose MediaSource does not take MP3. */
import { PCM_RATE } from '../api/speech';
import type { Player } from './player';

/** A piece of the audio: its samples and its first second. */
interface Piece {
  buffer: AudioBuffer;
  start: number;
}

/** A piece that the context plays from `at`, on its clock; `offset` is the second of the audio that it begins with. */
interface Scheduled {
  node: AudioBufferSourceNode;
  at: number;
  offset: number;
}

const LEAD_SECONDS = 0.05;

export class PcmPlayer implements Player {
  readonly format = 'pcm';
  /** What is faster would also be higher here. */
  readonly hasRate = false;
  private readonly context = new AudioContext();
  private readonly gain = this.context.createGain();
  private readonly pieces: Piece[] = [];
  private scheduled: Scheduled[] = [];
  private rest = new Uint8Array(0);
  private length = 0;
  private next = 0;
  private isComplete = false;
  private isPaused = true;
  private isEnded = false;

  constructor(private readonly onChange: () => void) {
    this.gain.connect(this.context.destination);
  }

  get time(): number {
    const now = this.context.currentTime - (this.context.outputLatency || 0);
    const playing = this.scheduled.findLast(({ at }) => at <= now);
    if (!playing) return this.scheduled[0]?.offset ?? this.length;
    return Math.min(playing.offset + now - playing.at, playing.offset + playing.node.buffer!.duration, this.length);
  }

  get paused(): boolean {
    return this.isPaused;
  }

  get ended(): boolean {
    return this.isEnded;
  }

  get duration(): number {
    return this.length;
  }

  adjust(volume: number): void {
    this.gain.gain.value = volume;
  }

  append(data: Uint8Array): void {
    const bytes = joined(this.rest, data);
    const count = Math.floor(bytes.length / 2);
    this.rest = bytes.slice(count * 2);
    if (count === 0) return;
    const buffer = this.context.createBuffer(1, count, PCM_RATE);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const samples = buffer.getChannelData(0);
    for (let at = 0; at < count; at++) samples[at] = view.getInt16(at * 2, true) / 32_768;
    const piece = { buffer, start: this.length };
    this.pieces.push(piece);
    this.length += buffer.duration;
    this.schedule(piece, 0);
  }

  finish(): void {
    this.isComplete = true;
    this.noteEnd();
  }

  play(): void {
    if (this.isEnded) this.seek(0);
    this.isPaused = false;
    void this.context.resume().then(this.onChange);
  }

  pause(): void {
    this.isPaused = true;
    void this.context.suspend().then(this.onChange);
  }

  seek(seconds: number): void {
    this.scheduled.forEach(({ node }) => ((node.onended = null), node.stop()));
    this.scheduled = [];
    this.isEnded = false;
    this.next = 0;
    for (const piece of this.pieces) {
      const end = piece.start + piece.buffer.duration;
      if (end > seconds) this.schedule(piece, Math.max(0, seconds - piece.start));
    }
  }

  close(): void {
    this.isPaused = true;
    void this.context.close();
  }

  /** Play a piece from a second of it, right behind the one before or as soon as possible. */
  private schedule(piece: Piece, from: number): void {
    const node = this.context.createBufferSource();
    node.buffer = piece.buffer;
    node.connect(this.gain);
    const at = Math.max(this.next, this.context.currentTime + LEAD_SECONDS);
    node.onended = () => this.noteEnd();
    node.start(at, from);
    this.next = at + piece.buffer.duration - from;
    this.scheduled.push({ node, at, offset: piece.start + from });
  }

  private noteEnd(): void {
    if (!this.isComplete || this.isPaused || this.context.currentTime + LEAD_SECONDS < this.next) return;
    this.isEnded = true;
    this.isPaused = true;
    this.onChange();
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
