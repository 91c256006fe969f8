import type { Sentence, SpokenWord } from '../reader/reader';
import type { TextSpan } from '../reader/tokens';
import { phonemeEdges } from './plan';
import type { Span } from './plan';

/** Words that are synthesised in one call, and the seconds of silence after them at speed 1. */
export interface Chunk {
  words: SpokenWord[];
  pause: number;
}

/** Phonemes of a chunk; the first is short, so that audio starts soon. */
const [FIRST, LONGEST, SHORTEST] = [90, 200, 24];
const PARAGRAPH_PAUSE = 0.7;
const SENTENCE_PAUSE = 0.42;
const CLAUSE_PAUSE = 0.18;
const COMMA_PAUSE = 0.1;

/** One chunk for a sentence, or several where it is long: they end at marks, or else between words. */
export function chunksOf(sentences: readonly Sentence[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (const sentence of sentences) {
    let rest = sentence.words.flatMap(parts);
    while (lengthOf(rest) > (chunks.length ? LONGEST : FIRST)) {
      const cut = splitPoint(rest, chunks.length ? LONGEST : FIRST);
      if (cut === rest.length) break;
      chunks.push({ words: rest.slice(0, cut), pause: pauseAfter(rest[cut - 1]!) });
      rest = rest.slice(cut);
    }
    chunks.push({ words: rest, pause: sentence.endsParagraph ? PARAGRAPH_PAUSE : SENTENCE_PAUSE });
  }
  return chunks;
}

/** A word, or its parts where it alone is longer than a chunk. */
function parts(word: SpokenWord): SpokenWord[] {
  const cut: SpokenWord[] = [];
  for (let rest = word.phonemes; rest || !cut.length; rest = rest.slice(LONGEST)) {
    cut.push({ ...word, phonemes: rest.slice(0, LONGEST), space: rest.length > LONGEST || word.space });
  }
  return cut;
}

/** The chunk's phonemes, with the spaces between its words. */
export function phonemesOf(chunk: Chunk): string {
  return chunk.words
    .map((word) => word.phonemes + (word.space ? ' ' : ''))
    .join('')
    .trimEnd();
}

/** A word of the caller's text, and the samples of the network's output in which it is spoken. */
export interface AlignedWord {
  span: TextSpan;
  samples: Span;
}

/** Each word has its own phonemes and half of each space beside it; words of one span, as of "$5", are one. */
export function alignedWords(chunk: Chunk, durations: readonly number[]): AlignedWord[] {
  const edges = phonemeEdges(durations);
  const words: AlignedWord[] = [];
  let position = 1;
  let spaced = false;
  for (const word of chunk.words) {
    const [first, last] = [position, position + [...word.phonemes].length];
    if (!word.isMark && last > first) {
      const start = spaced ? (edges[first]! + edges[first - 1]!) / 2 : edges[first]!;
      const end = word.space && last + 2 < edges.length ? (edges[last]! + edges[last + 1]!) / 2 : edges[last]!;
      const samples = { start: Math.max(0, Math.floor(start)), end: Math.max(0, Math.floor(end)) };
      const before = words.at(-1);
      if (before?.span.start === word.span.start && before.span.end === word.span.end) before.samples.end = samples.end;
      else words.push({ span: word.span, samples });
    }
    spaced = word.space;
    position = last + (word.space ? 1 : 0);
  }
  return words;
}

/** Number of words that the next chunk takes: to the last mark within the limit, or else to the last word. */
function splitPoint(words: readonly SpokenWord[], limit: number): number {
  let [length, mark, word] = [0, 0, 1];
  for (const [index, each] of words.entries()) {
    length += each.phonemes.length + (each.space ? 1 : 0);
    if (length > limit) break;
    const opens = /^[(“"]$/.test(each.phonemes);
    if (each.isMark && !opens && each.space && length >= SHORTEST) mark = index + 1;
    if (each.space && !opens) word = index + 1;
  }
  return mark || word;
}

function lengthOf(words: readonly SpokenWord[]): number {
  return words.reduce((sum, word) => sum + word.phonemes.length + (word.space ? 1 : 0), 0);
}

function pauseAfter(word: SpokenWord): number {
  if (!word.isMark) return 0;
  return /[;:—.!?…]$/.test(word.phonemes) ? CLAUSE_PAUSE : COMMA_PAUSE;
}
