import type { Sentence, SpokenWord } from './reader';

/** Phonemes as words and marks, a sentence to each closing mark; spans are places in the phonemes. */
export function phonemeSentences(phonemes: string): Sentence[] {
  const sentences: Sentence[] = [];
  let words: SpokenWord[] = [];
  const push = (): void => {
    if (words.some((word) => !word.isMark)) sentences.push({ words, endsParagraph: false });
    words = [];
  };
  for (const match of phonemes.matchAll(/[;:,.!?—…"()“”]|[^\s;:,.!?—…"()“”]+/g)) {
    const [text, start] = [match[0], match.index];
    const end = start + text.length;
    const isMark = /^[;:,.!?—…"()“”]$/.test(text);
    words.push({ phonemes: text, span: { start, end }, isMark, space: /^\s/.test(phonemes.slice(end, end + 1)) });
    if (/^[.!?…]$/.test(text) && /^\s|^$/.test(phonemes.slice(end, end + 1))) push();
  }
  push();
  return sentences;
}
