import { inflected, withEd, withIng, withS } from './inflection';
import { chosen } from './roles';
import type { Role } from './roles';
import { audible, compounded, emphasised, lastStrongest, unstressed, weakened } from './stress';
import type { Lexicon } from './tables';

/** The context of a word that its pronunciation depends on. */
export interface WordContext {
  role: Role;
  beforeBreak: boolean;
  shouted: boolean;
}

const ALONE: WordContext = { role: 'plain', beforeBreak: false, shouted: false };
const ACRONYM_FORM = /^(?<stem>[A-Z]{2,}|[A-Z](?='))(?:'?(?<s>s)|(?<ed>'?e?d)|'?(?<ing>ing))$/;
const CAMEL = /[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+/g;
const CLUSTER = /[BCDFGKPQTVXZ][BDFGKPQTVXZ][BCDFGKPQSTVXZ]|[^AEIOUY]{4}|^[^AEIOUY]{3}|[AEIOUY]{4}|(.)\1\1/;
const LETTERS_IN_A_ROW = 8;
const WEAK_INSIDE: Record<string, string> = { the: 'ðə', to: 'tə', a: 'ɐ' };

/** Phonemes of one English word: known, inflected, compound, acronym, or unknown. */
export class WordReader {
  constructor(
    private readonly lexicon: Lexicon,
    private readonly emphatic: ReadonlySet<string>,
    private readonly digits: (digits: string) => string[],
    private readonly unknown: (word: string) => string,
  ) {}

  /** Phonemes of letters, digits, hyphens and apostrophes; a space parts what is said apart. */
  read(run: string, context: WordContext = ALONE): string {
    if (run.includes('.') && !/\d/.test(run)) return this.spelled(run);
    const known = this.known(run, context);
    if (known !== null) return known;
    const parts = run.match(/[A-Za-z']+|\d+|(?<=\d)\.(?=\d)/g) ?? [];
    if (parts.length === 1 && parts[0] === run && /^[A-Za-z']+$/.test(run)) return this.strange(run, context);
    return this.compound(parts, context);
  }

  /** Letters called one by one; a long row is cut, so that each group has its beat. */
  spelled(letters: string): string {
    const names = (letters.match(/[A-Za-z]/g) ?? []).map((letter) => this.lexicon.letter(letter));
    const groups: string[] = [];
    for (let start = 0; start < names.length; start += LETTERS_IN_A_ROW) {
      groups.push(lastStrongest(names.slice(start, start + LETTERS_IN_A_ROW)));
    }
    return groups.join(' ');
  }

  /** The sound of a word that the dictionary has, or from which it can be derived. */
  private known(word: string, context: WordContext): string | null {
    if (!/^[\p{L}']/u.test(word)) return null;
    if (isUpper(word) && word.length > 1) return this.capitals(word, context);
    const form = this.lexicon.exact(word) === undefined ? ACRONYM_FORM.exec(word) : null;
    if (form) return this.acronymForm(form.groups!, context);
    const entry = this.lexicon.find(word);
    if (entry !== undefined) return this.cased(word, chosen(entry, context.role, context.beforeBreak));
    return this.derived(word, context);
  }

  private acronymForm(form: Record<string, string | undefined>, context: WordContext): string {
    const [stem, { variant }] = [this.read(form.stem!, context), this.lexicon];
    if (form.s) return withS(stem, variant);
    return form.ed ? withEd(stem, variant) : withIng(stem, variant, form.stem!);
  }

  /** A word in capitals: an acronym, a shouted word, or initials. */
  private capitals(word: string, context: WordContext): string | null {
    const exact = this.lexicon.exact(word);
    if (exact !== undefined) {
      const role = context.shouted || this.emphatic.has(word) ? 'plain' : 'noun';
      return this.cased(word, chosen(exact, role, context.beforeBreak));
    }
    const lower = word.toLowerCase();
    const entry = this.lexicon.find(lower);
    const isWord = context.shouted || word.length > 3;
    if (entry !== undefined && (isWord || this.lexicon.exact(lower) !== undefined)) {
      return this.cased(word, chosen(entry, context.role, context.beforeBreak));
    }
    if (word.endsWith("'S")) return this.possessive(word, context);
    const derived = isWord ? this.derived(lower, context) : null;
    if (derived === null || (!context.shouted && this.isInitialism(lower.slice(0, -1)))) return null;
    return emphasised(derived);
  }

  /** Return whether the dictionary spells a word: then `HTTPS` is not the plural of `HTTP`. */
  private isInitialism(word: string): boolean {
    const entry = this.lexicon.find(word);
    return typeof entry === 'string' && unstressed(entry) === unstressed(this.spelled(word)).replaceAll(' ', '');
  }

  /** The sound with the stress that capitals lend it; no sound means that the letters are called. */
  private cased(word: string, sound: string | null): string {
    if (sound === null) return this.spelled(word);
    if (isUpper(word) && word.length > 1) return emphasised(sound);
    return isUpper(word[0]!) ? audible(sound) : sound;
  }

  private derived(word: string, context: WordContext): string | null {
    const plain = (stem: string, verb: boolean): string | null => {
      const entry = stem.length > 1 ? this.lexicon.find(stem) : undefined;
      return entry === undefined ? null : chosen(entry, verb ? 'verb' : context.role, false);
    };
    const sound = inflected(word, plain, this.lexicon.variant);
    return sound && isUpper(word[0]!) ? audible(sound) : sound;
  }

  /** A word that is in no dictionary: a name in mixed case, initials, or plain letters. */
  private strange(word: string, context: WordContext): string {
    if (word.endsWith("'s")) return this.possessive(word, context);
    const letters = word.replaceAll("'", '');
    const parts = letters.match(CAMEL) ?? [];
    if (parts.length > 1 && !/^[A-Z]{2,}[a-z]$/.test(letters)) return this.camel(parts, context);
    const vowels = letters.match(/[AEIOUY]/g)?.length ?? 0;
    const named = letters.length >= 5 && vowels >= 2 && !CLUSTER.test(letters);
    if (parts.length > 1 || (isUpper(letters) && !named) || !/[aeiouy]/i.test(letters)) return this.spelled(letters);
    return this.unknown(letters.toLowerCase());
  }

  private possessive(word: string, context: WordContext): string {
    return withS(this.read(word.replace(/(?:'[sS])+$/, ''), context), this.lexicon.variant);
  }

  /** The parts of a name in mixed case; the first has the beat, or the last where it is initials. */
  private camel(parts: readonly string[], context: WordContext): string {
    const sounds = parts.map((part) => (part === 'Mc' ? 'mək' : this.read(part, context)));
    const leads = isUpper(parts.at(-1)!) || ['Mc', 'O', 'D', 'De', 'Di', 'Van', 'Von'].includes(parts[0]!);
    const beat = leads ? parts.length - 1 : 0;
    return sounds.map((sound, index) => (index === beat ? emphasised(sound) : weakened(sound))).join('');
  }

  /** Words joined by hyphens are one word; numbers and longer chains are said word by word. */
  private compound(parts: readonly string[], context: WordContext): string {
    const sounds = parts.map((part, index) => this.part(part, index, parts, context));
    if (parts.length === 2 && parts.every((part) => /^[A-Za-z]+$/.test(part))) return compounded(sounds).join('');
    return sounds.join(' ');
  }

  private part(part: string, index: number, parts: readonly string[], context: WordContext): string {
    if (/^\d+$/.test(part)) {
      return this.digits(part)
        .map((word) => this.read(word))
        .join(' ');
    }
    const following = parts[index + 1] ?? 'a';
    if (index && part in WEAK_INSIDE && !/^[aeiouy]/i.test(following)) return WEAK_INSIDE[part]!;
    return this.read(part === '.' ? 'point' : part, context);
  }
}

function isUpper(text: string): boolean {
  return text !== text.toLowerCase() && text === text.toUpperCase();
}
