/** Word stress, and how it changes in compounds and emphasis. A mark stands before its vowel. */
export const PRIMARY = 'ˈ';
export const SECONDARY = 'ˌ';
export const VOWELS = new Set('AIOQWYaiuæɑɐɒɔəɛɜɪʊʌᵻ');

export function unstressed(phonemes: string): string {
  return phonemes.replaceAll(PRIMARY, '').replaceAll(SECONDARY, '');
}

/** Primary stress becomes secondary, and older secondary stress goes. */
export function weakened(phonemes: string): string {
  if (!phonemes.includes(PRIMARY)) return phonemes;
  return phonemes.replaceAll(SECONDARY, '').replaceAll(PRIMARY, SECONDARY);
}

/** A word without any stress gets a secondary one on its first vowel. */
export function audible(phonemes: string): string {
  return /[ˈˌ]/.test(phonemes) ? phonemes : marked(phonemes, SECONDARY);
}

/** The word with a primary stress, wherever it had its strongest. */
export function emphasised(phonemes: string): string {
  if (phonemes.includes(PRIMARY)) return phonemes;
  if (phonemes.includes(SECONDARY)) return phonemes.replaceAll(SECONDARY, PRIMARY);
  return marked(phonemes, PRIMARY);
}

/** Letters spelled in a row: the last has the primary stress. */
export function lastStrongest(parts: readonly string[]): string {
  const joined = weakened(parts.join(''));
  const at = joined.lastIndexOf(SECONDARY);
  return at < 0 ? emphasised(joined) : joined.slice(0, at) + PRIMARY + joined.slice(at + 1);
}

/** The parts of a compound with about half of the primary stresses left, the heaviest parts keeping theirs. */
export function compounded(parts: readonly string[]): string[] {
  const stressed = [...parts.keys()].filter((index) => parts[index]!.includes(PRIMARY));
  if (stressed.length <= Math.floor((parts.length + 1) / 2)) return [...parts];
  stressed.sort((a, b) => weight(parts[a]!) - weight(parts[b]!) || a - b);
  const lightest = new Set(stressed.slice(0, Math.floor(parts.length / 2)));
  return parts.map((part, index) => (lightest.has(index) ? weakened(part) : part));
}

function marked(phonemes: string, mark: string): string {
  const at = [...phonemes].findIndex((symbol) => VOWELS.has(symbol));
  return at < 0 ? phonemes : phonemes.slice(0, at) + mark + phonemes.slice(at);
}

function weight(phonemes: string): number {
  return [...phonemes].reduce((sum, symbol) => sum + ('AIOQWYʤʧ'.includes(symbol) ? 2 : 1), 0);
}
