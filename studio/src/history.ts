/** What was spoken, the newest first; kept in this browser until it is cleared. */
import type { SpeechRequest } from './api/speech';
import { createStore } from './store';

export interface Spoken {
  /** Milliseconds since 1970. */
  at: number;
  request: SpeechRequest;
}

const NAME = 'polyvox.history';
const MOST = 30;
/** Longer texts are not kept: thirty of them would fill the browser's storage. */
const MOST_CHARACTERS = 20_000;

export const history = createStore<Spoken[]>(read());

export function remember(request: SpeechRequest): void {
  if (request.input.length > MOST_CHARACTERS) return;
  const others = history.get().filter((each) => !isSame(each.request, request));
  write([{ at: Date.now(), request }, ...others].slice(0, MOST));
}

export function clearHistory(): void {
  write([]);
}

/** Whether two requests ask for the same speech, but for chance. */
export function isSame(one: SpeechRequest, other: SpeechRequest): boolean {
  return (['input', 'model', 'voice', 'speed', 'instructions'] as const).every((name) => one[name] === other[name]);
}

function write(spoken: Spoken[]): void {
  history.set(spoken);
  try {
    localStorage.setItem(NAME, JSON.stringify(spoken));
  } catch {
    // The browser's storage is full or off: the history then lasts until the page is closed.
  }
}

function read(): Spoken[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSpoken) : [];
  } catch {
    return []; // written by another version, or by hand
  }
}

function isSpoken(value: unknown): value is Spoken {
  const { at, request } = (value ?? {}) as Partial<Spoken>;
  const { input, model, voice, speed } = request ?? ({} as Partial<SpeechRequest>);
  const isText = [input, model, voice].every((each) => typeof each === 'string');
  return typeof at === 'number' && isText && typeof speed === 'number';
}
