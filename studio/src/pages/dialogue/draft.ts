/** The dialogue that this browser keeps between visits. */
import type { Turn } from './script';

const NAME = 'polyvox.dialogue';

export interface Draft {
  pause: number;
  turns: Turn[];
}

const FIRST: Draft = {
  pause: 0.3,
  turns: [
    { key: 1, voice: '', text: 'Is the tide out?' },
    { key: 2, voice: '', text: 'It is, and the boats lie on the sand.' },
  ],
};

export function readDraft(): Draft {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? 'null');
    return isDraft(kept) ? kept : FIRST;
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

function isDraft(value: unknown): value is Draft {
  const { pause, turns } = (value ?? {}) as Partial<Draft>;
  return typeof pause === 'number' && Array.isArray(turns) && turns.length > 0 && turns.every(isTurn);
}

function isTurn(value: unknown): value is Turn {
  const { key, voice, text } = (value ?? {}) as Partial<Turn>;
  return typeof key === 'number' && typeof voice === 'string' && typeof text === 'string';
}

/** A key that no turn has yet. */
export function nextKey(turns: Turn[]): number {
  return Math.max(0, ...turns.map(({ key }) => key)) + 1;
}
