import type { SpeechPiece, WordTime } from './speech';

export interface PlayOptions {
  /** Called when a word begins to be heard. */
  onWord?: (word: WordTime) => void;
}

/** Plays speech while it is made. One player plays one speech at a time. */
export class Player {
  private node: AudioWorkletNode | undefined;

  private constructor(private readonly context: AudioContext) {}

  /** Open the page's audio output; browsers want a click or a key before that. */
  static async open(sampleRate = 24_000): Promise<Player> {
    const context = new AudioContext({ sampleRate });
    await context.audioWorklet.addModule(new URL('./player_worklet.js', import.meta.url));
    return new Player(context);
  }

  /** Play the pieces of a speech; resolves when the last was heard, or when it was stopped. */
  async play(pieces: AsyncIterable<SpeechPiece>, { onWord }: PlayOptions = {}): Promise<void> {
    this.stop();
    await this.context.resume();
    const node = (this.node = new AudioWorkletNode(this.context, 'polyvox-player', { outputChannelCount: [1] }));
    const words: WordTime[] = [];
    const ended = new Promise<void>((resolve) => {
      node.port.onmessage = ({ data }: MessageEvent<number | 'ended'>) => {
        if (data === 'ended') return resolve();
        while (words.length && words[0]!.start <= data) onWord?.(words.shift()!);
      };
    });
    node.connect(this.context.destination);
    try {
      for await (const piece of pieces) {
        if (this.node !== node) return;
        words.push(...piece.words);
        node.port.postMessage(piece.pcm, [piece.pcm.buffer]);
      }
      node.port.postMessage('last');
      await ended;
    } finally {
      node.disconnect();
    }
  }

  /** Stop at once. */
  stop(): void {
    this.node?.port.postMessage('stop');
    this.node = undefined;
  }

  async close(): Promise<void> {
    this.stop();
    await this.context.close();
  }
}
