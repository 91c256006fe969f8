import { NumberWords } from './numbers';
import type { ReaderTables } from './tables';

/** A place in the caller's text: from `start` up to, and without, `end`. */
export interface TextSpan {
  start: number;
  end: number;
}

/** A word or mark of the text, with the words that are said for it. */
export interface TextToken extends TextSpan {
  text: string;
  words: string[];
  isMark: boolean;
  /** True if the token keeps the full stop of an abbreviation that may end a sentence too. */
  stopped?: boolean;
}

const CURRENCIES: Record<string, [string, string, string]> = {
  $: ['dollar', 'cent', 'cents'],
  '€': ['euro', 'cent', 'cents'],
  '£': ['pound', 'penny', 'pence'],
};
const TOKEN = new RegExp(
  [
    String.raw`(?<money>(?<sign>[$€£])(?<sum>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?<cents>\d\d?\d*))?(?: (?<scale>thousand|million|billion|trillion))?)`,
    String.raw`(?<time>(?<![\d:])(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)(?![\d:])(?:\s?(?<half>[ap])\.?m\b\.?)?)`,
    String.raw`(?<halfday>(?<oclock>\d{1,2})\s?(?<noon>[ap])\.?m\b\.?)`,
    String.raw`(?<ordinal>\d+)(?:st|nd|rd|th)\b`,
    String.raw`(?<decade>\b\d{3}0)s\b`,
    String.raw`(?<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)(?<percent> ?%)?`,
    String.raw`(?<short>\b[A-Za-z]{1,6})\.(?![A-Za-z])`,
    String.raw`(?<dotted>\b[A-Za-z](?:\.[A-Za-z](?![A-Za-z]))+\.?(?![A-Za-z]))`,
    String.raw`(?<word>(?:['’](?=(?:tis|twas|em|til|cause)\b))?[\p{L}\p{N}]\p{M}*(?:[\p{L}\p{N}]\p{M}*|['’\-‐‑](?=[\p{L}\p{N}])|(?<=in)['’](?=\s))*)`,
    String.raw`(?<mark>(?<same>\S)\k<same>*)`,
  ].join('|'),
  'giu',
);

/** Cuts English text into words and marks, and figures, money, times and abbreviations into the words for them. */
export class Tokenizer {
  private readonly numbers: NumberWords;
  private readonly months: Set<string>;

  constructor(private readonly tables: ReaderTables) {
    this.numbers = new NumberWords(tables.numbers);
    this.months = new Set(tables.months);
  }

  tokens(text: string): TextToken[] {
    const found: TextToken[] = [];
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
      const groups = match.groups!;
      const start = match.index;
      if (groups.short !== undefined && !this.isAbbreviation(groups.short, text, TOKEN.lastIndex)) {
        // No abbreviation: the stop is a mark of its own.
        TOKEN.lastIndex = start + groups.short.length;
        found.push(token(groups.short, [plain(groups.short)], start));
      } else if (groups.mark !== undefined) {
        found.push({ ...token(match[0], [], start), isMark: true });
      } else {
        const isTitle = groups.short !== undefined && this.tables.titles[groups.short] !== undefined;
        const rest = text.slice(TOKEN.lastIndex, TOKEN.lastIndex + 8);
        const stopped = match[0].endsWith('.') && !isTitle && /^\s*$|^\s+["“(]?[A-Z]/.test(rest);
        found.push({ ...token(match[0], this.words(groups, text, start, TOKEN.lastIndex, found), start), stopped });
      }
    }
    return found;
  }

  private isAbbreviation(word: string, text: string, end: number): boolean {
    const rest = text.slice(end, end + 8);
    const { titles, abbreviations, abbreviationsWithin } = this.tables;
    if (titles[word] !== undefined || abbreviations[word] !== undefined) return !/^\s*$/.test(rest);
    return abbreviationsWithin[word] !== undefined && /^(?:[,;:)]|\s+[a-z\d(])/.test(rest);
  }

  private words(g: Record<string, string>, text: string, start: number, end: number, before: TextToken[]): string[] {
    const numbers = this.numbers;
    if (g.money !== undefined) return this.money(g);
    if (g.time !== undefined) return this.time(Number(g.hour), Number(g.minute), g.half);
    if (g.halfday !== undefined) return `${numbers.cardinal(g.oclock!)} ${g.noon!.toUpperCase()}M`.split(' ');
    if (g.ordinal !== undefined) return numbers.ordinal(g.ordinal).split(' ');
    if (g.decade !== undefined) return plural(numbers.year(g.decade)).split(' ');
    if (g.number !== undefined) {
      const words = this.figure(g.number, text, start, end, before);
      return [...words.split(' '), ...(g.percent === undefined ? [] : ['percent'])];
    }
    if (g.short !== undefined) {
      const { titles, abbreviations, abbreviationsWithin } = this.tables;
      return (titles[g.short] ?? abbreviations[g.short] ?? abbreviationsWithin[g.short]!).split(' ');
    }
    return [plain(g.dotted ?? g.word!)];
  }

  private figure(figure: string, text: string, start: number, end: number, before: TextToken[]): string {
    const last = before.at(-1)?.words.at(-1) ?? '';
    const following = /^\s+(\p{L}+)/u.exec(text.slice(end, end + 16))?.[1] ?? '';
    const minus = text[start - 1] === '-' && !/[\p{L}\p{N}]/u.test(text[start - 2] ?? '') ? 'minus ' : '';
    const day = /^\d\d?$/.test(figure) && Number(figure) >= 1 && Number(figure) <= 31;
    if (day && this.months.has(last)) return this.numbers.ordinal(figure);
    if (day && this.months.has(following)) return `${last === 'the' ? '' : 'the '}${this.numbers.ordinal(figure)} of`;
    const year = /^(?:1[1-9]|20)\d\d$/.test(figure);
    return minus + (year ? this.numbers.year(figure) : this.numbers.number(figure));
  }

  private money({ sign, sum, cents, scale }: Record<string, string>): string[] {
    const [unit, part, parts] = CURRENCIES[sign!]!;
    const whole = sum!.replaceAll(',', '');
    if (scale !== undefined || (cents !== undefined && cents.length !== 2)) {
      const amount = this.numbers.number(cents === undefined ? whole : `${whole}.${cents}`);
      return [amount, scale, `${unit}s`].filter(Boolean).join(' ').split(' ');
    }
    const words = whole === '0' && cents ? [] : [this.numbers.cardinal(whole), whole === '1' ? unit : `${unit}s`];
    if (cents && cents !== '00') {
      if (words.length) words.push('and');
      words.push(this.numbers.cardinal(String(Number(cents))), Number(cents) === 1 ? part : parts);
    }
    return words.join(' ').split(' ');
  }

  private time(hour: number, minute: number, half: string | undefined): string[] {
    const said = [this.numbers.cardinal(String(hour))];
    if (minute) said.push(this.numbers.twoDigits(minute));
    else if (half === undefined) said.push(hour === 0 || hour > 12 ? 'hundred' : "o'clock");
    if (half !== undefined) said.push(`${half.toUpperCase()}M`);
    return said.join(' ').split(' ');
  }
}

function token(text: string, words: string[], start: number): TextToken {
  return { text, words, start, end: start + text.length, isMark: false };
}

/** A word with plain letters, apostrophes and hyphens. */
function plain(word: string): string {
  const folded = word.replace(/[’‘]/g, "'").replace(/[‐‑]/g, '-').replace(/ß/g, 'ss').replace(/[œŒ]/g, 'oe');
  return folded.normalize('NFKD').replace(/\p{M}/gu, '').replace(/æ/g, 'ae').replace(/ø/g, 'o');
}

function plural(words: string): string {
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`;
}
