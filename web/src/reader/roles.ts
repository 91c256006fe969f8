import type { Entry, ReaderTables } from './tables';

/** The part of speech of a word; plain where there is no evidence. */
export type Role = 'plain' | 'noun' | 'verb' | 'past' | 'adjective' | 'attribute' | 'determiner';

const KEYS: Record<Role, string[]> = {
  plain: [],
  noun: ['NOUN'],
  verb: ['VERB'],
  past: ['VBD', 'VBN', 'VERB'],
  adjective: ['ADJ'],
  attribute: ['ADJ', 'NOUN'],
  determiner: ['DT'],
};
const NEAR = 16;

/** The phonemes of an entry for a role; null for an acronym that is to be spelled. */
export function chosen(entry: Entry, role: Role, beforeBreak: boolean): string | null {
  if (typeof entry === 'string') return entry;
  if (beforeBreak && entry.None !== undefined) return entry.None;
  const key = KEYS[role].find((each) => each in entry) ?? 'DEFAULT';
  return entry[key] ?? null;
}

/** Tells the roles of heteronyms from the words around them: the server's general rules, without its rarer senses. */
export class Roles {
  private readonly classes: Record<string, Set<string>>;

  constructor(tables: ReaderTables) {
    this.classes = Object.fromEntries(Object.entries(tables.classes).map(([name, words]) => [name, new Set(words)]));
  }

  /** `words` are lower case; a mark of punctuation stands among them as itself. */
  of(words: readonly string[], index: number): Role {
    const word = words[index]!;
    if (word === 'that') return this.that(words, index);
    if (word === 'read') return this.read(words, index);
    if (word === 'used') return this.used(words, index);
    return this.general(words, index);
  }

  private is(name: string, word: string): boolean {
    return this.classes[name]?.has(word) ?? false;
  }

  private isAny(names: string, word: string): boolean {
    return names.split(' ').some((name) => this.is(name, word));
  }

  private general(words: readonly string[], index: number): Role {
    const left = this.left(words, index);
    const settled = this.fromLeft(words, index, left);
    if (settled !== undefined) return settled;
    const following = at(words, index + 1);
    if (isBreak(left)) {
      if (this.isCommand(words, index)) return 'verb';
      return isPlural(words[index]!) || this.is('AUXILIARIES', following) ? 'noun' : 'plain';
    }
    if (this.is('CONJUNCTIONS', left)) return this.coordinated(words, index);
    if (following === 'of' || this.is('AUXILIARIES', following)) return 'noun';
    if (this.is('OBJECTS', following) || left.startsWith('help')) return 'verb';
    return 'noun';
  }

  /** The role where the words to the left settle it. */
  private fromLeft(words: readonly string[], index: number, left: string): Role | undefined {
    const word = words[index]!;
    if (this.is('MODALS', left) || left.endsWith("'ll") || this.isInfinitive(words, index, left)) {
      return isPlural(word) ? 'noun' : 'verb';
    }
    if (this.is('HAVE', left) || (this.is('SUBJECTS', left) && this.is('HAVE', at(words, index - 2)))) {
      return this.is('PAST_FORMS', word) ? 'past' : this.nominal(words, index);
    }
    if (this.is('BE', left)) {
      if (this.is('PAST_FORMS', word)) return 'past';
      return isPlural(word) ? 'noun' : 'adjective';
    }
    if (left === 'one' && at(words, index - 2) === 'no') return 'verb';
    if (this.is('SUBJECTS', left)) return 'verb';
    if (this.is('SINGULAR_SUBJECTS', left)) {
      const inverted = this.is('MODALS', at(words, index - 2));
      return isPlural(word) || this.is('PAST_FORMS', word) || inverted ? 'verb' : 'plain';
    }
    const nominal = this.isAny('DETERMINERS PREPOSITIONS', left) || left === 'to' || left.endsWith("'s");
    return nominal || /^\d+$/.test(left) ? this.nominal(words, index) : undefined;
  }

  /** Inside a noun phrase: an adjective where a noun still follows, else the noun. */
  private nominal(words: readonly string[], index: number): Role {
    const following = at(words, index + 1);
    const closing = 'CONJUNCTIONS AUXILIARIES PREPOSITIONS DETERMINERS OBJECTS SUBJECTS SINGULAR_SUBJECTS ADVERBS';
    const closed = isBreak(following) || following === 'to' || following.endsWith('ed') || this.isAny(closing, following);
    if (closed || isPlural(words[index]!)) return 'noun';
    return this.is('ADJECTIVES', words[index]!) ? 'adjective' : 'attribute';
  }

  /** After `and` or `or`: the role of what stands on its other side. */
  private coordinated(words: readonly string[], index: number): Role {
    if (this.is('OBJECTS', at(words, index + 1))) return 'verb';
    for (let back = index - 2; back > Math.max(-1, index - 7); back--) {
      const word = words[back]!;
      if (word === 'to' || this.is('MODALS', word)) return 'verb';
      if (this.isAny('DETERMINERS PREPOSITIONS', word)) return this.nominal(words, index);
      if (isBreak(word)) break;
    }
    return 'plain';
  }

  /** `that` that points (and is heard), against `that` that joins. */
  private that(words: readonly string[], index: number): Role {
    const [left, following] = [at(words, index - 1), at(words, index + 1)];
    const pointing = this.isAny('PREPOSITIONS BE MODALS', left) || ['like', 'all', 'just', 'not', 'know'].includes(left);
    return isBreak(left) || isBreak(following) || pointing ? 'determiner' : 'plain';
  }

  /** `read` is past after have and be, after he or she, and where the sentence tells of the past. */
  private read(words: readonly string[], index: number): Role {
    const left = this.left(words, index);
    if (this.isAny('HAVE BE', left)) return 'past';
    if (this.is('MODALS', left) || left.endsWith("'ll") || this.isInfinitive(words, index, left)) return 'verb';
    const subject = this.isAny('SUBJECTS SINGULAR_SUBJECTS', left);
    if (subject && this.is('MODALS', at(words, index - 2))) return 'verb';
    if (this.is('SINGULAR_SUBJECTS', left)) return 'past';
    const near = words.slice(Math.max(0, index - NEAR), index + NEAR);
    if (near.some((word) => this.is('PAST_CUES', word) || (word.endsWith('ed') && word.length > 4))) return 'past';
    return subject || isBreak(left) || isPlural(left) || this.isAny('ADVERBS CONJUNCTIONS PREPOSITIONS', left)
      ? 'verb'
      : 'past';
  }

  /** `used to` as habit or custom, against `used to make` as purpose. */
  private used(words: readonly string[], index: number): Role {
    if (at(words, index + 1) !== 'to') return 'plain';
    const purpose = at(words, index + 2);
    if (!this.is('BE', this.left(words, index))) return 'past';
    const accustomed = this.isAny('DETERMINERS OBJECTS', purpose) || purpose.endsWith('ing') || isBreak(purpose);
    return accustomed ? 'past' : 'plain';
  }

  /** The nearest word to the left that is no adverb; empty where there is none. */
  private left(words: readonly string[], index: number): string {
    for (let back = index - 1; back > Math.max(-1, index - 4); back--) {
      const word = words[back]!;
      if (!this.is('ADVERBS', word) && !(word.endsWith('ly') && word.length > 4)) return word;
    }
    return '';
  }

  private isCommand(words: readonly string[], index: number): boolean {
    const following = at(words, index + 1);
    const goes = ['to', 'with', 'between'].includes(following) && !this.is('ADJECTIVES', words[index]!);
    return this.is('OBJECTS', following) || goes;
  }

  /** After `to` where an action follows, and after `let me`. */
  private isInfinitive(words: readonly string[], index: number, left: string): boolean {
    if (left === 'to') return !this.is('NOUN_TO', at(words, words.lastIndexOf('to', index - 1) - 1));
    return ['me', 'him', 'her', 'us', 'them', 'it'].includes(left) && this.is('LET', at(words, index - 2));
  }
}

function at(words: readonly string[], index: number): string {
  return words[index] ?? '';
}

function isBreak(word: string): boolean {
  return !/[\p{L}\p{N}]/u.test(word);
}

function isPlural(word: string): boolean {
  return /s$/.test(word) && !/(?:ss|us|is|'s)$/.test(word) && word.length > 3;
}
