/** Changes of a dictionary that are not saved yet: this tab keeps them while the user looks at other pages. */
import type { Dictionary } from './types';

const PREFIX = 'polyvox.dictionary.';

export function readDraft(name: string): Dictionary | null {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null') as Dictionary | null;
  } catch {
    return null; // written by hand
  }
}

export function writeDraft(name: string, draft: Dictionary): void {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // The browser's storage is full or off: the changes then last until another page is opened.
  }
}

export function forgetDraft(name: string): void {
  sessionStorage.removeItem(PREFIX + name);
}
