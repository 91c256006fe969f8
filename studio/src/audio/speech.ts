/** One text being spoken: its audio as it arrives, its words, and where the listener is. */
import { useEffect, useMemo } from 'preact/hooks';
import { speechFile, streamSpeech, type SpeechPart, type SpeechRequest, type Word } from '../api/speech';
import { speakHere } from '../device/device';
import { DEVICE } from '../device/voices';
import type { Player } from './player';
import { Sound, type SoundState } from './sound';

export interface SpeechState extends SoundState {
  request: SpeechRequest | null;
  words: readonly Word[];
  warning: string;
}

const IDLE: SpeechState = { status: 'idle', request: null, words: [], isComplete: false, warning: '', error: null };

export class Speech extends Sound<SpeechState> {
  constructor() {
    super(IDLE);
  }

  get title(): string {
    return this.state.get().request?.input ?? '';
  }

  /** Whether it is made on the user's device. */
  get isHere(): boolean {
    return this.state.get().request?.model === DEVICE;
  }

  override get suffix(): 'mp3' | 'wav' {
    return this.isHere ? 'wav' : 'mp3';
  }

  override get file(): Blob | null {
    return this.isHere ? this.wave : super.file;
  }

  async saved(): Promise<Blob> {
    return this.file ?? speechFile(this.state.get().request!, 'mp3');
  }

  /** Speak from the start, in place of whatever is spoken now. */
  start(request: SpeechRequest): Promise<void> {
    const format = request.model === DEVICE ? 'pcm' : undefined;
    return this.play({ request }, (taken, signal) => this.pieces(request, taken, signal), format);
  }

  private async *pieces(request: SpeechRequest, format: Player['format'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for await (const { audio, words } of await this.parts(request, format, signal)) {
      yield audio;
      if (words.length > 0) this.change({ words: [...this.state.get().words, ...words] });
    }
  }

  private async parts(request: SpeechRequest, format: Player['format'], signal: AbortSignal): Promise<AsyncGenerator<SpeechPart>> {
    if (request.model === DEVICE) return speakHere(request, signal);
    const { warning, parts } = await streamSpeech(request, format, signal);
    this.change({ warning });
    return parts;
  }
}

/** A speech of a component; when that goes, the player bar has it. */
export function useSpeech(): Speech {
  const speech = useMemo(() => new Speech(), []);
  useEffect(() => () => speech.leave(), [speech]);
  return speech;
}
