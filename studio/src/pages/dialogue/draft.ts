/** The dialogue that this browser keeps between visits. */
import { isCast, type Role } from './cast';
import type { Turn } from './script';

const NAME = 'polyvox.dialogue';

export interface Draft {
  pause: number;
  turns: Turn[];
  cast: Role[];
}

const FIRST: Draft = {
  pause: 0.3,
  turns: [
    { key: 1, voice: '', text: 'Is the tide out?' },
    { key: 2, voice: '', text: 'It is, and the boats lie on the sand.' },
  ],
  cast: [],
};

export function readDraft(): Draft {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? 'null');
    return draftOf(kept) ?? FIRST;
  } catch {
    return FIRST; // written by another version, or by hand
  }
}

export function writeDraft(draft: Draft): void {
  try {
    localStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    // The browser's storage is full or off: the draft then lasts until the page is closed.
  }
}

/** A draft as a file or the browser has kept it; null where it is none. */
export function draftOf(value: unknown): Draft | null {
  const { pause, turns, cast = [] } = (value ?? {}) as Partial<Draft>;
  if (typeof pause !== 'number' || !Array.isArray(turns) || turns.length === 0 || !turns.every(isTurn) || !isCast(cast)) return null;
  return { pause, turns, cast };
}

function isTurn(value: unknown): value is Turn {
  const { key, voice, text } = (value ?? {}) as Partial<Turn>;
  return typeof key === 'number' && typeof voice === 'string' && typeof text === 'string';
}

/** A key that none of them has yet. */
export function nextKey(keyed: { key: number }[]): number {
  return Math.max(0, ...keyed.map(({ key }) => key)) + 1;
}
