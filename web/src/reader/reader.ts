import type { G2p } from './g2p';
import { NumberWords } from './numbers';
import { Roles } from './roles';
import { VOWELS, unstressed } from './stress';
import { Lexicon } from './tables';
import type { ReaderTables } from './tables';
import { Tokenizer } from './tokens';
import type { TextSpan, TextToken } from './tokens';
import { WordReader } from './words';

/** One word or punctuation mark, in the model's phonemes. */
export interface SpokenWord {
  phonemes: string;
  span: TextSpan;
  isMark: boolean;
  /** True if white space follows. */
  space: boolean;
}

/** A sentence of words. */
export interface Sentence {
  words: SpokenWord[];
  endsParagraph: boolean;
}

type NextSound = 0 | 1 | 2;
const [BREAK, VOWEL, CONSONANT] = [0, 1, 2] as const;
// Before a break, a vowel, a consonant.
const WEAK: Record<string, [string, string, string]> = {
  the: ['ði', 'ði', 'ðə'],
  an: ['ɐn', 'ɐn', 'ɐn'],
  to: ['', 'tʊ', 'tə'],
  in: ['ˈɪn', 'ɪn', 'ɪn'],
  am: ['', 'ɐm', 'ɐm'],
};
const MARKS = new Set(';:,.!?—…"()“”');
const AS: Record<string, string> = { '–': '—', '―': '—', '[': '(', ']': ')', '{': '(', '}': ')', '«': '“', '»': '”' };
const CONSONANTS = new Set('bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθTʔ');

/** Reads English: text to sentences of phonemes. */
export class Reader {
  private readonly tokenizer: Tokenizer;
  private readonly lexicon: Lexicon;
  private readonly roles: Roles;
  private readonly words: WordReader;
  private readonly unread = new Set<string>();

  constructor(private readonly tables: ReaderTables, private readonly g2p: G2p) {
    const numbers = new NumberWords(tables.numbers);
    this.tokenizer = new Tokenizer(tables);
    this.lexicon = new Lexicon(tables);
    this.roles = new Roles(tables);
    const digits = (figure: string): string[] => numbers.cardinal(figure).split(' ');
    this.words = new WordReader(this.lexicon, new Set(tables.emphatic), digits, (word) => this.unknown(word));
  }

  async read(text: string): Promise<Sentence[]> {
    const sentences: Sentence[] = [];
    for (const tokens of this.sentences(text)) {
      let words = this.spoken(tokens, text);
      while (this.unread.size) {
        for (const word of this.unread) await this.g2p.prepare(word);
        this.unread.clear();
        words = this.spoken(tokens, text);
      }
      const gap = /^[^\S\n]*(?:\n[^\S\n]*){2,}/.test(text.slice(tokens.at(-1)!.end));
      if (words.some((word) => !word.isMark)) sentences.push({ words, endsParagraph: gap });
    }
    return sentences;
  }

  private unknown(word: string): string {
    const known = this.g2p.phonemes(word);
    if (known === undefined) this.unread.add(word);
    return known || this.words.spelled(word);
  }

  /** The tokens of each sentence: it ends behind a closing mark, and at the end of a line. */
  private sentences(text: string): TextToken[][] {
    const sentences: TextToken[][] = [];
    let current: TextToken[] = [];
    const tokens = this.tokenizer.tokens(text);
    tokens.forEach((token, index) => {
      current.push(token);
      const following = tokens[index + 1];
      const gap = following ? text.slice(token.end, following.start) : '\n';
      const closed = token.stopped || (token.isMark && /^(?:[.!?…]+|[”")\]])$/.test(token.text));
      const ended = closed && current.some((each) => each.stopped || /^[.!?…]+$/.test(each.text));
      const opens = !following || /^["“‘'(\p{Lu}\d]/u.test(following.text);
      if (gap.includes('\n') || (ended && gap && opens && this.endsNear(current))) {
        sentences.push(current);
        current = [];
      }
    });
    return sentences;
  }

  /** Return whether nothing but closing quotes and brackets follows the last closing mark. */
  private endsNear(tokens: TextToken[]): boolean {
    const last = tokens.findLastIndex((token) => token.stopped || /^[.!?…]+$/.test(token.text));
    return tokens.slice(last + 1).every((token) => /^[”")\]]$/.test(token.text));
  }

  private spoken(tokens: TextToken[], text: string): SpokenWord[] {
    const lower = tokens.map((token) => (token.isMark ? token.text : token.text.toLowerCase().replaceAll('’', "'")));
    const runs = tokens.filter((token) => !token.isMark && token.text.length > 1).map((token) => token.text);
    const shouting = runs.filter((run) => run !== run.toLowerCase() && run === run.toUpperCase()).length;
    const shouted = runs.length > 2 && 3 * shouting > 2 * runs.length;
    const spoken: SpokenWord[] = [];
    let [ahead, following] = [BREAK as NextSound, text.length];
    for (let index = tokens.length - 1; index >= 0; index--) {
      const token = tokens[index]!;
      const parts = this.parts(token, { lower, index, tokens, shouted, ahead, text });
      if (!parts.length) continue;
      const [last, neighbour] = [parts.at(-1)!, spoken[0]];
      const gap = text.slice(token.end, following);
      last.space = /\s/.test(gap) || (neighbour !== undefined && !neighbour.isMark && !last.isMark);
      spoken.unshift(...parts);
      if (token.stopped && !parts.at(-1)!.isMark && index === tokens.length - 1) spoken.push(stop(token));
      following = token.start;
      ahead = soundOf(parts[0]!, ahead);
    }
    return spoken;
  }

  private parts(token: TextToken, place: Place): SpokenWord[] {
    const span = { start: token.start, end: token.end };
    if (!token.isMark) {
      const said: SpokenWord[] = [];
      let { ahead } = place;
      for (const word of token.words.toReversed()) {
        const sounds = this.word(word, { ...place, ahead }).split(' ').filter(Boolean);
        said.unshift(...sounds.map((each) => ({ phonemes: asTrained(each), span, isMark: false, space: true })));
        ahead = said[0] ? soundOf(said[0], ahead) : ahead;
      }
      return said;
    }
    const sign = this.tables.signs[token.text[0]!];
    if (sign !== undefined) {
      const said = sign.split(' ').map((word) => this.words.read(word));
      return said.map((phonemes) => ({ phonemes: asTrained(phonemes), span, isMark: false, space: true }));
    }
    const symbol = mark(token, place.text);
    return symbol ? [{ phonemes: symbol, span, isMark: true, space: false }] : [];
  }

  private word(word: string, place: Place): string {
    if (!/[A-Za-z0-9]/.test(word)) return '';
    const weak = this.weak(word, place);
    if (weak) return weak;
    const entry = this.lexicon.find(word);
    const role = entry === undefined || typeof entry === 'string' ? 'plain' : this.roles.of(place.lower, place.index);
    return this.words.read(word, { role, beforeBreak: place.ahead === BREAK, shouted: place.shouted });
  }

  /** The sound of the little words that lean on what follows them; nothing for all others. */
  private weak(word: string, place: Place): string {
    const small = /^.[^A-Z]*$/.test(word) || place.shouted;
    const lower = small ? word.toLowerCase() : word;
    if (lower === 'a') {
      const { tokens, index, ahead, shouted } = place;
      const opens = index === 0 || tokens[index - 1]!.isMark || shouted;
      const glued = tokens[index + 1]?.start === tokens[index]!.end;
      const named = this.tables.classes.NEVER_AFTER_ARTICLE?.includes(place.lower[index + 1] ?? '');
      if (named || ahead === BREAK || (word === 'A' && !opens) || glued) return this.lexicon.letter('a');
      return 'ɐ';
    }
    if (word === 'I') return 'ˌI';
    return WEAK[lower]?.[place.ahead] ?? '';
  }
}

/** A token's place in its sentence. */
interface Place {
  lower: string[];
  index: number;
  tokens: TextToken[];
  shouted: boolean;
  ahead: NextSound;
  text: string;
}

/** The voices learned the American flap as T, and a glottal stop as the t that it stands for. */
function asTrained(phonemes: string): string {
  return phonemes.replaceAll('ɾ', 'T').replaceAll('ʔ', 't');
}

/** The full stop of an abbreviation that ends its sentence. */
function stop(token: TextToken): SpokenWord {
  return { phonemes: '.', span: { start: token.end - 1, end: token.end }, isMark: true, space: false };
}

/** The model's symbol for a mark, or nothing where it has none. */
function mark(token: TextToken, text: string): string {
  const [before, after] = [text[token.start - 1] ?? ' ', text[token.end] ?? ' '];
  const first = token.text[0]!;
  if (first === '"') return /[\s([{—]/.test(before) ? '“' : '”';
  if (first === '.') return token.text.length > 1 ? '…' : '.';
  if (first === '-') return token.text.length > 1 || (/\s/.test(before) && /\s/.test(after)) ? '—' : '';
  const symbol = AS[first] ?? first;
  return MARKS.has(symbol) ? symbol : '';
}

/** The sound that the words to the left are followed by. */
function soundOf(first: SpokenWord, before: NextSound): NextSound {
  for (const symbol of unstressed(first.phonemes)) {
    if (MARKS.has(symbol)) return '“”"()'.includes(symbol) ? before : BREAK;
    if (VOWELS.has(symbol)) return VOWEL;
    if (CONSONANTS.has(symbol)) return CONSONANT;
  }
  return before;
}
