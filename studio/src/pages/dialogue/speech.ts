/** A dialogue being spoken: its audio as it arrives, and which turn is heard. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Player } from '../../audio/player';
import { Sound, type SoundState } from '../../audio/sound';
import { dialogueFile, speakDialogue, turnAt, type DialogueBody, type Part } from './stream';

const IDLE: SoundState = { status: 'idle', isComplete: false, error: null };

export class DialogueSpeech extends Sound {
  private body: DialogueBody | null = null;
  private parts: Omit<Part, 'audio'>[] = [];

  constructor() {
    super(IDLE);
  }

  get title(): string {
    return this.body?.turns.map(({ text }) => text).join(' ') ?? '';
  }

  /** The place of the turn that is heard, -1 where none is. */
  get turn(): number {
    return this.player ? turnAt(this.parts, this.player.time) : -1;
  }

  async saved(): Promise<Blob> {
    return this.file ?? dialogueFile(this.body!, 'mp3');
  }

  /** Speak from the start, in place of whatever is spoken now. */
  start(body: DialogueBody): Promise<void> {
    this.body = body;
    this.parts = [];
    return this.play({}, (format, signal) => this.pieces(body, format, signal));
  }

  private async *pieces(body: DialogueBody, format: Player['format'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for await (const { audio, ...part } of speakDialogue(body, format, signal)) {
      this.parts.push(part);
      yield audio;
    }
  }
}

/** A dialogue of a component; when that goes, the player bar has it. */
export function useDialogueSpeech(): DialogueSpeech {
  const speech = useMemo(() => new DialogueSpeech(), []);
  useEffect(() => () => speech.leave(), [speech]);
  return speech;
}
