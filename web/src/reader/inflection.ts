import { audible } from './stress';
import type { Variant } from './tables';

// What follows an apostrophe, with its sound after a vowel and after a consonant.
const CLITICS: readonly [string, string, string][] = [
  ["n't", 'nt', 'ᵊnt'],
  ["'ll", 'l', 'ᵊl'],
  ["'ve", 'v', 'əv'],
  ["'re", 'ɹ', 'əɹ'],
  ["'d", 'd', 'əd'],
  ["'m", 'm', 'əm'],
];

/** The sound of a plain form that the dictionary has; the flag asks for the verb of a heteronym. */
export type StemSound = (stem: string, verb: boolean) => string | null;

/** The sound of a word that is a known word and an ending: plural, possessive, past, -ing, or a contraction. */
export function inflected(word: string, plain: StemSound, variant: Variant): string | null {
  return contraction(word, plain, variant) ?? ending(word, plain, variant);
}

/** The stem with the plural's or possessive's ending, voiced as its last sound asks. */
export function withS(stem: string, variant: Variant): string {
  if (/[ptkfθ]$/.test(stem)) return `${stem}s`;
  if (/[szʃʒʧʤ]$/.test(stem)) return stem + (variant === 'gb' ? 'ɪz' : 'ᵻz');
  return `${stem}z`;
}

/** The stem with the ending of the past tense. */
export function withEd(stem: string, variant: Variant): string {
  if (/[td]$/.test(stem)) return `${flapped(stem, variant)}${variant === 'gb' ? 'ɪ' : 'ᵻ'}d`;
  return stem + (/[pkfθʃsʧ]$/.test(stem) ? 't' : 'd');
}

/** The stem with -ing; a British r that was silent at the end is heard before it. */
export function withIng(stem: string, variant: Variant, spelling: string): string {
  const heard = audible(stem);
  const linking = variant === 'gb' && /[əː]$/.test(heard) && /re*$/.test(spelling) ? 'ɹ' : '';
  return `${flapped(heard, variant)}${linking}ɪŋ`;
}

/** An American t between vowels, before an ending. */
function flapped(stem: string, variant: Variant): string {
  return variant === 'us' && /[AIOWYiuæɑəɛɪɹʊʌ]t$/.test(stem) ? `${stem.slice(0, -1)}ɾ` : stem;
}

function contraction(word: string, plain: StemSound, variant: Variant): string | null {
  for (const [clitic, afterVowel, afterConsonant] of CLITICS) {
    if (!word.endsWith(clitic) || word.length === clitic.length) continue;
    const stem = plain(word.slice(0, -clitic.length), true);
    if (stem === null) return null;
    const syllabic = /[bdfkpstvzðɡʃʒʤʧθlmnŋ]$/.test(stem) && !(clitic === "'d" && !/[td]$/.test(stem));
    const sound = variant === 'gb' && clitic === "'re" ? 'ə' : syllabic ? afterConsonant : afterVowel;
    return /^[ᵊə]/.test(sound) ? flapped(stem, variant) + sound : stem + sound;
  }
  return null;
}

function ending(word: string, plain: StemSound, variant: Variant): string | null {
  for (const [spelling, end] of stems(word)) {
    const stem = plain(spelling, end === 'ed' || end === 'ing');
    if (!stem) continue;
    if (end === 's') return withS(stem, variant);
    if (end === 'ed') return withEd(stem, variant);
    return end === "in'" ? `${stem.slice(0, -1)}n` : withIng(stem, variant, spelling);
  }
  return null;
}

/** Plain forms that a word may come from, most likely first, each with the ending that was taken off. */
function* stems(word: string): Generator<[string, string]> {
  if (word.endsWith("in'")) yield [`${word.slice(0, -1)}g`, "in'"];
  if (word.endsWith("'s")) yield [word.slice(0, -2), 's'];
  else if (word.endsWith('s') && !word.endsWith('ss') && word.length > 2) {
    yield [word.slice(0, -1), 's'];
    if (word.endsWith('ies') && word.length > 4) yield [`${word.slice(0, -3)}y`, 's'];
    else if (word.endsWith('es') && word.length > 4) yield [word.slice(0, -2), 's'];
  } else if (word.endsWith('ed') && word.length > 3) {
    for (const stem of verbStems(word.slice(0, -2))) yield [stem, 'ed'];
  } else if (word.endsWith('ing') && word.length > 4) {
    for (const stem of verbStems(word.slice(0, -3))) yield [stem, 'ing'];
  }
}

/** Spellings of the verb before an ending: with its silent e, plain, with y for i, or not doubled. */
function* verbStems(root: string): Generator<string> {
  const silentE = /(?:^|[^aeiou])[aeiouy][bcdfgklmnprstvz]$/.test(root);
  if (silentE) yield `${root}e`;
  if (root.length > 2) yield root;
  if (!silentE) yield `${root}e`;
  if (root.endsWith('i')) yield `${root.slice(0, -1)}y`;
  if (root.endsWith('ck') || /([bdgklmnprstvz])\1$/.test(root)) yield root.slice(0, -1);
}
