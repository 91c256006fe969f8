/** One text being spoken: its audio as it arrives, its words, and where the listener is. */
import { useEffect, useMemo } from 'preact/hooks';
import { speechFile, streamSpeech, type SpeechRequest, type Word } from '../api/speech';
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

  async saved(): Promise<Blob> {
    return this.file ?? speechFile(this.state.get().request!, 'mp3');
  }

  /** Speak from the start, in place of whatever is spoken now. */
  start(request: SpeechRequest): Promise<void> {
    return this.play({ request }, (format, signal) => this.pieces(request, format, signal));
  }

  private async *pieces(request: SpeechRequest, format: Player['format'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const stream = await streamSpeech(request, format, signal);
    this.change({ warning: stream.warning });
    for await (const { audio, words } of stream.parts) {
      yield audio;
      if (words.length > 0) this.change({ words: [...this.state.get().words, ...words] });
    }
  }
}

/** A speech of a component; when that goes, the player bar has it. */
export function useSpeech(): Speech {
  const speech = useMemo(() => new Speech(), []);
  useEffect(() => () => speech.leave(), [speech]);
  return speech;
}
