/** Plays MP3 as it arrives, through MediaSource. */
import type { Player } from './player';

const MP3 = 'audio/mpeg';
const EVENTS = ['playing', 'pause', 'waiting', 'ended'] as const;
/** Seconds before the playing position that stay when the browser's buffer is full. */
const KEPT_SECONDS = 20;
const RETRY_MS = 500;

export class MediaPlayer implements Player {
  readonly format = 'mp3';
  readonly hasRate = true;
  private readonly audio = new Audio();
  private readonly source = new MediaSource();
  private buffer: SourceBuffer | null = null;
  private readonly waiting: Uint8Array[] = [];
  private readonly received: Uint8Array[] = [];
  private isComplete = false;
  private isClosed = false;
  private url: string;

  static isSupported(): boolean {
    return 'MediaSource' in window && MediaSource.isTypeSupported(MP3);
  }

  constructor(private readonly onChange: () => void) {
    this.url = URL.createObjectURL(this.source);
    this.source.addEventListener('sourceopen', () => this.open(), { once: true });
    EVENTS.forEach((name) => this.audio.addEventListener(name, this.onChange));
    this.audio.preload = 'auto';
    this.audio.src = this.url;
  }

  get time(): number {
    return this.audio.currentTime;
  }

  get paused(): boolean {
    return this.audio.paused;
  }

  get ended(): boolean {
    return this.audio.ended;
  }

  get duration(): number {
    const { duration, buffered } = this.audio;
    if (Number.isFinite(duration)) return duration;
    return buffered.length > 0 ? buffered.end(buffered.length - 1) : 0;
  }

  adjust(volume: number, rate: number): void {
    this.audio.volume = volume;
    this.audio.defaultPlaybackRate = rate; // for the file that may take the stream's place
    this.audio.playbackRate = rate;
  }

  append(data: Uint8Array): void {
    if (data.length === 0) return;
    this.received.push(data);
    this.waiting.push(data);
    this.flush();
  }

  finish(): void {
    this.isComplete = true;
    this.flush();
  }

  play(): void {
    if (this.audio.ended) this.seek(0);
    this.audio.play().catch(() => this.onChange()); // interrupted by a pause, or not allowed without a gesture
  }

  pause(): void {
    this.audio.pause();
  }

  seek(seconds: number): void {
    if (this.isComplete && !this.holds(seconds)) this.playFile();
    this.audio.currentTime = seconds;
  }

  close(): void {
    this.isClosed = true;
    EVENTS.forEach((name) => this.audio.removeEventListener(name, this.onChange));
    this.audio.pause();
    this.audio.removeAttribute('src');
    URL.revokeObjectURL(this.url);
  }

  private open(): void {
    if (this.isClosed) return;
    this.buffer = this.source.addSourceBuffer(MP3);
    this.buffer.addEventListener('updateend', () => this.flush());
    this.flush();
  }

  /** Hand over what has arrived; the buffer takes one piece at a time. */
  private flush(): void {
    const { buffer, source } = this;
    if (!buffer || buffer.updating || source.readyState !== 'open' || this.isClosed) return;
    const data = this.waiting[0];
    if (data === undefined) {
      if (this.isComplete) source.endOfStream();
      return;
    }
    try {
      buffer.appendBuffer(data as Uint8Array<ArrayBuffer>);
      this.waiting.shift();
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error;
      this.makeRoom(buffer);
    }
  }

  /** The browser holds some minutes only: let go of what has been heard, and try again. */
  private makeRoom(buffer: SourceBuffer): void {
    const until = this.audio.currentTime - KEPT_SECONDS;
    if (until > 0 && buffer.buffered.length > 0 && buffer.buffered.start(0) < until) buffer.remove(0, until);
    else setTimeout(() => this.flush(), RETRY_MS);
  }

  private holds(seconds: number): boolean {
    const { buffered } = this.audio;
    return Array.from({ length: buffered.length }, (_, index) => index).some(
      (index) => buffered.start(index) - 0.1 <= seconds && seconds <= buffered.end(index),
    );
  }

  /** Play the whole file from memory, where the buffer has let go of a part of it. */
  private playFile(): void {
    const wasPaused = this.audio.paused;
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(new Blob(this.received as BlobPart[], { type: MP3 }));
    this.audio.src = this.url;
    if (!wasPaused) this.play();
  }
}
