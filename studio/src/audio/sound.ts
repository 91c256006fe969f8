/** A sound that plays while it still arrives: one is heard at a time, also after the page that began it was left. */
import { isAbort } from '../api/client';
import { PCM_RATE } from '../api/speech';
import { createStore, type Store } from '../store';
import { createPlayer, type Player } from './player';
import { waveFile } from './wave_file';

export type Status = 'idle' | 'starting' | 'playing' | 'paused' | 'ended' | 'failed';

export interface SoundState {
  status: Status;
  /** Whether all of the audio is here. */
  isComplete: boolean;
  error: unknown;
}

/** The one that is heard, or was last: another one that begins silences it. */
export const heard = createStore<Sound | null>(null);

export abstract class Sound<S extends SoundState = SoundState> {
  readonly state: Store<S>;
  protected player: Player | null = null;
  private received: Uint8Array[] = [];
  private abort = new AbortController();
  private isLeft = false;

  constructor(private readonly idle: S) {
    this.state = createStore(idle);
  }

  /** A few words that tell it from others. */
  abstract get title(): string;

  /** The whole of it as a file, of the kind of `suffix`. */
  abstract saved(): Promise<Blob>;

  /** MP3, also where the browser plays another format. */
  get suffix(): 'mp3' | 'wav' {
    return 'mp3';
  }

  /** Seconds from the start of the audio to what is heard now. */
  get time(): number {
    return this.player?.time ?? 0;
  }

  /** Seconds that have arrived; all of them once it is complete. */
  get duration(): number {
    return this.player?.duration ?? 0;
  }

  /** Whether this browser can play it faster and slower. */
  get hasRate(): boolean {
    return this.player?.hasRate ?? false;
  }

  /** The MP3 that has been received, once it is complete. */
  get file(): Blob | null {
    const isWhole = this.state.get().isComplete && this.player?.format === 'mp3';
    return isWhole ? new Blob(this.received as BlobPart[], { type: 'audio/mpeg' }) : null;
  }

  /** The PCM that has been received as WAV, once it is complete. */
  protected get wave(): Blob | null {
    const isWhole = this.state.get().isComplete && this.player?.format === 'pcm';
    return isWhole ? waveFile(this.received, PCM_RATE) : null;
  }

  /** Loudness from 0 to 1, and how many times as fast it plays. */
  adjust(volume: number, rate: number): void {
    this.player?.adjust(volume, rate);
  }

  /** Pause, or go on. */
  toggle(): void {
    if (!this.player) return;
    if (this.player.paused) {
      this.claim();
      this.player.play();
    } else this.player.pause();
    this.follow();
  }

  pause(): void {
    this.player?.pause();
    this.follow();
  }

  /** Play on from a second of the audio. */
  seek(seconds: number): void {
    if (!this.player) return;
    this.claim();
    this.player.seek(seconds);
    this.player.play();
    this.follow();
  }

  /** Silence, and no more work for the server. */
  stop(): void {
    this.abort.abort();
    this.player?.close();
    this.player = null;
    this.received = [];
    this.state.set(this.idle);
  }

  /** Its page is left: it plays on in the player bar until another sound begins. */
  leave(): void {
    this.isLeft = true;
    if (heard.get() !== this.plain) this.stop();
  }

  /** Play from the start what `pieces` brings, in place of whatever is heard now. */
  protected async play(
    changes: Partial<S>,
    pieces: (format: Player['format'], signal: AbortSignal) => AsyncIterable<Uint8Array>,
    format?: Player['format'],
  ): Promise<void> {
    this.stop();
    this.isLeft = false;
    this.claim();
    const abort = (this.abort = new AbortController());
    const player = (this.player = createPlayer(() => this.player === player && this.follow(), format));
    this.state.set({ ...this.idle, ...changes, status: 'starting' });
    player.play();
    try {
      for await (const audio of pieces(player.format, abort.signal)) {
        this.received.push(audio);
        player.append(audio);
        this.follow();
      }
      player.finish();
      this.change({ isComplete: true } as Partial<S>);
      this.follow();
    } catch (error) {
      if (isAbort(error) || abort.signal.aborted) return;
      player.pause();
      this.change({ status: 'failed', error } as Partial<S>);
    }
  }

  protected change(changes: Partial<S>): void {
    this.state.set({ ...this.state.get(), ...changes });
  }

  /** Itself, as those see it who know nothing of its kind. */
  private get plain(): Sound {
    return this as unknown as Sound;
  }

  private claim(): void {
    const other = heard.get();
    if (other && other !== this.plain) {
      if (other.isLeft) other.stop();
      else other.pause();
    }
    heard.set(this.plain);
  }

  private follow(): void {
    const { status, isComplete } = this.state.get();
    if (!this.player || status === 'failed') return;
    this.change({ status: this.statusOf(this.player, isComplete) } as Partial<S>);
  }

  private statusOf(player: Player, isComplete: boolean): Status {
    if (player.ended) return 'ended';
    if (player.paused) return 'paused';
    return isComplete || this.received.length > 0 ? 'playing' : 'starting';
  }
}
