/// <reference lib="webworker" />
import { PIECES_AHEAD } from './messages';
import type { Answer, Request } from './messages';
import { Speech } from './speech';

declare const self: DedicatedWorkerGlobalScope;

/** A speech under way: whether it was stopped, and how far its pieces are ahead of whoever takes them. */
class Speaking {
  stopped = false;
  private ahead = 0;
  private wake: (() => void) | undefined;

  /** Count a piece; resolves once another may be made. */
  async given(): Promise<void> {
    this.ahead++;
    while (this.ahead >= PIECES_AHEAD && !this.stopped) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  taken(): void {
    this.ahead--;
    this.wake?.();
  }

  stop(): void {
    this.stopped = true;
    this.wake?.();
  }
}

const speaking = new Map<number, Speaking>();
let speech: Speech | undefined;
/** Requests follow one another: the graphs run one at a time. */
let last = Promise.resolve();

function answer(message: Answer, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}

function loaded(): Speech {
  if (!speech) throw new Error('the model is not loaded');
  return speech;
}

async function run(request: Request): Promise<void> {
  const { id } = request;
  if (request.kind === 'load') {
    const progress = (bytes: number, total: number): void => answer({ kind: 'progress', id, loaded: bytes, total });
    speech = await Speech.load(request.model, request, progress);
    answer({ kind: 'done', id, voices: speech.voices });
  } else if (request.kind === 'phonemize') {
    answer({ kind: 'done', id, phonemes: await loaded().phonemize(request.text, request.language) });
  } else if (request.kind === 'speak') {
    const state = speaking.get(id)!;
    if (!state.stopped) {
      for await (const piece of loaded().speak(request.text, request.options)) {
        if (state.stopped) break;
        answer({ kind: 'piece', id, piece }, [piece.pcm.buffer]);
        await state.given();
      }
    }
    speaking.delete(id);
    answer({ kind: 'done', id });
  }
}

function receive({ data: request }: MessageEvent<Request>): void {
  if (request.kind === 'taken') return speaking.get(request.id)?.taken();
  if (request.kind === 'stop') return speaking.get(request.id)?.stop();
  if (request.kind === 'speak') speaking.set(request.id, new Speaking());
  last = last
    .then(() => run(request))
    .catch((error: unknown) => {
      speaking.delete(request.id);
      answer({ kind: 'failed', id: request.id, message: error instanceof Error ? error.message : String(error) });
    });
}

// ONNX Runtime starts its threads from this same file, under names of their own.
if (!self.name.startsWith('em-pthread')) self.addEventListener('message', receive);
