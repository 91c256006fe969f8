/** A dialogue being spoken: its audio as it arrives, and which turn is heard. */
import { isAbort } from '../../api/client';
import { createPlayer, type Player } from '../../audio/player';
import { createStore } from '../../store';
import { speakDialogue, turnAt, type DialogueBody, type Part } from './stream';

export interface DialogueState {
  status: 'idle' | 'starting' | 'playing' | 'paused' | 'ended' | 'failed';
  error: unknown;
}

const IDLE: DialogueState = { status: 'idle', error: null };

export class DialogueSpeech {
  readonly state = createStore<DialogueState>(IDLE);
  private player: Player | null = null;
  private parts: Omit<Part, 'audio'>[] = [];
  private abort = new AbortController();

  /** The place of the turn that is heard, -1 where none is. */
  get turn(): number {
    return this.player ? turnAt(this.parts, this.player.time) : -1;
  }

  /** Speak from the start, in place of whatever is spoken now. */
  async start(body: DialogueBody): Promise<void> {
    this.stop();
    const abort = (this.abort = new AbortController());
    const player = (this.player = createPlayer(() => this.player === player && this.follow()));
    this.state.set({ ...IDLE, status: 'starting' });
    player.play();
    try {
      for await (const { audio, ...part } of speakDialogue(body, player.format, abort.signal)) {
        player.append(audio);
        this.parts.push(part);
        this.follow();
      }
      player.finish();
    } catch (error) {
      if (isAbort(error) || abort.signal.aborted) return;
      player.pause();
      this.state.set({ status: 'failed', error });
    }
  }

  /** Pause, or go on. */
  toggle(): void {
    if (this.player?.paused) this.player.play();
    else this.player?.pause();
    this.follow();
  }

  /** Silence, and no more work for the server. */
  stop(): void {
    this.abort.abort();
    this.player?.close();
    this.player = null;
    this.parts = [];
    this.state.set(IDLE);
  }

  private follow(): void {
    if (!this.player || this.state.get().status === 'failed') return;
    if (this.player.ended) this.state.set({ ...IDLE, status: 'ended' });
    else if (this.player.paused) this.state.set({ ...IDLE, status: 'paused' });
    else this.state.set({ ...IDLE, status: this.parts.length ? 'playing' : 'starting' });
  }
}
