import type { Voice } from './manifest';
import type { Answer, Request } from './messages';
import { usualThreads } from './runtime';
import type { Progress, SpeakOptions, SpeechPiece, VoiceMix } from './speech';

export interface LoadOptions {
  /** Address of the model's folder, as the export writes it. */
  model: string | URL;
  /** Voices to fetch at once, with what they need to speak text; others are fetched when they first speak. */
  voices?: (string | VoiceMix)[];
  /** Threads of the model; by default half of the cores where the page is cross-origin isolated, else one. */
  threads?: number;
  /** Called while files are fetched or taken from the cache. */
  progress?: Progress;
}

type Listener = (answer: Answer) => void;
type Omitted<T> = T extends { id: number } ? Omit<T, 'id'> : never;

/** Speech in a worker of this page, without a server. */
export class Synthesizer {
  private readonly listeners = new Map<number, Listener>();
  private voiceList: readonly Voice[] = [];
  private nextId = 0;

  private constructor(private readonly worker: Worker) {
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => this.listeners.get(data.id)?.(data));
    worker.addEventListener('error', ({ message }) => this.fail(message || 'the worker cannot be started'));
  }

  /** Start the worker, and fetch the model or take it from the browser's cache. */
  static async load({ model, voices = [], threads = usualThreads(), progress }: LoadOptions): Promise<Synthesizer> {
    const synthesizer = new Synthesizer(new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }));
    try {
      const base = new URL(String(model).replace(/\/?$/, '/'), document.baseURI).href;
      const { voices: known } = await synthesizer.ask({ kind: 'load', model: base, threads, voices }, progress);
      synthesizer.voiceList = known ?? [];
      return synthesizer;
    } catch (error) {
      synthesizer.close();
      throw error;
    }
  }

  /** All voices of the model. */
  get voices(): readonly Voice[] {
    return this.voiceList;
  }

  /** Speak a text: pieces of samples in order, with the times of the words that end in them. */
  async *speak(text: string, options: SpeakOptions = {}): AsyncGenerator<SpeechPiece> {
    const id = this.nextId++;
    const answers: Answer[] = [];
    let wake: (() => void) | undefined;
    this.listeners.set(id, (answer) => {
      answers.push(answer);
      wake?.();
    });
    this.worker.postMessage({ kind: 'speak', id, text, options } satisfies Request);
    try {
      for (;;) {
        while (!answers.length) await new Promise<void>((resolve) => (wake = resolve));
        const answer = answers.shift()!;
        if (answer.kind === 'failed') throw new Error(answer.message);
        if (answer.kind !== 'piece') return;
        this.worker.postMessage({ kind: 'taken', id } satisfies Request);
        yield answer.piece;
      }
    } finally {
      this.listeners.delete(id);
      this.worker.postMessage({ kind: 'stop', id } satisfies Request);
    }
  }

  /** The phonemes of an English text, as this package reads it. */
  async phonemize(text: string, language?: string): Promise<string> {
    return (await this.ask({ kind: 'phonemize', text, language })).phonemes ?? '';
  }

  /** End the worker; speech under way ends with an error. */
  close(): void {
    this.worker.terminate();
    this.fail('the synthesizer was closed');
  }

  private ask(request: Omitted<Request>, progress?: Progress): Promise<Extract<Answer, { kind: 'done' }>> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.listeners.set(id, (answer) => {
        if (answer.kind === 'progress') return progress?.(answer.loaded, answer.total);
        this.listeners.delete(id);
        if (answer.kind === 'done') resolve(answer);
        else reject(new Error(answer.kind === 'failed' ? answer.message : 'unexpected answer'));
      });
      this.worker.postMessage({ ...request, id });
    });
  }

  private fail(message: string): void {
    for (const [id, listener] of [...this.listeners]) listener({ kind: 'failed', id, message });
  }
}
