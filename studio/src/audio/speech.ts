/** One text being spoken: its audio as it arrives, its words, and where the listener is. */
import { isAbort } from '../api/client';
import { streamSpeech, type SpeechRequest, type Word } from '../api/speech';
import { createStore } from '../store';
import { createPlayer, type Player } from './player';

export type Status = 'idle' | 'starting' | 'playing' | 'paused' | 'ended' | 'failed';

export interface SpeechState {
  status: Status;
  request: SpeechRequest | null;
  words: readonly Word[];
  /** Whether all of the audio is here. */
  isComplete: boolean;
  warning: string;
  error: unknown;
}

const IDLE: SpeechState = { status: 'idle', request: null, words: [], isComplete: false, warning: '', error: null };

/** The one that is heard: another one that begins silences it. */
const heard = createStore<Speech | null>(null);

export class Speech {
  readonly state = createStore<SpeechState>(IDLE);
  private player: Player | null = null;
  private received: Uint8Array[] = [];
  private abort = new AbortController();

  /** Seconds from the start of the audio to what is heard now. */
  get time(): number {
    return this.player?.time ?? 0;
  }

  /** The MP3 that has been received, once it is complete. */
  get file(): Blob | null {
    const isWhole = this.state.get().isComplete && this.player?.format === 'mp3';
    return isWhole ? new Blob(this.received as BlobPart[], { type: 'audio/mpeg' }) : null;
  }

  /** Speak from the start, in place of whatever is spoken now. */
  async start(request: SpeechRequest): Promise<void> {
    this.stop();
    this.claim();
    const abort = (this.abort = new AbortController());
    const player = (this.player = createPlayer(() => this.player === player && this.follow()));
    this.received = [];
    this.state.set({ ...IDLE, status: 'starting', request });
    player.play();
    try {
      const stream = await streamSpeech(request, player.format, abort.signal);
      this.change({ warning: stream.warning });
      for await (const { audio, words } of stream.parts) {
        this.received.push(audio);
        player.append(audio);
        if (words.length > 0) this.change({ words: [...this.state.get().words, ...words] });
      }
      player.finish();
      this.change({ isComplete: true });
      this.follow();
    } catch (error) {
      if (isAbort(error) || abort.signal.aborted) return;
      player.pause();
      this.change({ status: 'failed', error });
    }
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
    this.state.set(IDLE);
  }

  private claim(): void {
    const other = heard.get();
    if (other !== this) other?.pause();
    heard.set(this);
  }

  private follow(): void {
    const { status, words, isComplete } = this.state.get();
    if (!this.player || status === 'failed') return;
    if (this.player.ended) this.change({ status: 'ended' });
    else if (this.player.paused) this.change({ status: 'paused' });
    else this.change({ status: words.length > 0 || isComplete || this.received.length > 0 ? 'playing' : 'starting' });
  }

  private change(changes: Partial<SpeechState>): void {
    this.state.set({ ...this.state.get(), ...changes });
  }
}
