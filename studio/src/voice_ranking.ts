/** Voices by how good they are, and good ones to begin with. */
import type { Voice } from './api/lists';

/** The best grade first; voices without one last, each group in the server's order. */
export function byGrade(voices: readonly Voice[]): Voice[] {
  return [...voices].sort((one, other) => rank(one.grade) - rank(other.grade));
}

/** Two different voices to hear side by side: the best one, and the best of another gender in its language, where there is one. */
export function goodPair(voices: readonly Voice[]): Voice[] {
  const [first, ...others] = byGrade(voices.filter(({ available }) => available));
  if (!first) return [];
  const same = (voice: Voice) => voice.language === first.language;
  const other = (voice: Voice) => voice.gender !== first.gender;
  const second = others.find((voice) => same(voice) && other(voice)) ?? others.find(other) ?? others[0];
  return second ? [first, second] : [first];
}

/** `A` before `A-` before `B+`. */
function rank(grade: string | undefined): number {
  if (!grade) return Infinity;
  const sign = grade.endsWith('+') ? -1 : grade.endsWith('-') ? 1 : 0;
  return grade.charCodeAt(0) * 3 + sign;
}
