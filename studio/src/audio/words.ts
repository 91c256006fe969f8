/** Where spoken words stand in the text, and which of them is heard at a time. */
import type { Word } from '../api/speech';

/** A piece of a text: a spoken word with its index, or what stands between words. */
export interface Segment {
  text: string;
  word: number | null;
}

/** Characters that may lie between two spoken words, such as a table or a web address that is read otherwise. */
const MAX_GAP = 400;

/** The text up to its last timed word in segments, and the rest of it. */
export function segments(text: string, words: readonly Word[]): { spoken: Segment[]; rest: string } {
  const spoken: Segment[] = [];
  let at = 0;
  words.forEach(({ word }, index) => {
    const found = text.indexOf(word, at);
    if (!word || found < 0 || found - at > MAX_GAP) return;
    if (found > at) spoken.push({ text: text.slice(at, found), word: null });
    spoken.push({ text: word, word: index });
    at = found + word.length;
  });
  return { spoken, rest: text.slice(at) };
}

/** The index of the word that is heard at a second: the last one that has begun; -1 before the first. */
export function wordAt(words: readonly Word[], seconds: number): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (words[middle]!.start <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
