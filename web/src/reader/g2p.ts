import { Graph, floats, floatsOf, integers } from '../wren/graph';
import { VOWELS } from './stress';
import type { ReaderTables } from './tables';

const END = 1;
const FIRST_SYMBOL = 2;
const MAX_LETTERS = 32;

/** Phonemes of words in no dictionary, by a small network; greedy, so the same word has the same phonemes. */
export class G2p {
  private readonly known = new Map<string, string>();

  constructor(
    private readonly encoder: Graph,
    private readonly decoder: Graph,
    private readonly tables: ReaderTables,
  ) {}

  /** The phonemes of a word that was prepared; nothing for any other. */
  phonemes(word: string): string | undefined {
    return this.known.get(word);
  }

  /** Read a lower-case word of the letters a to z; a very long one is read in parts. */
  async prepare(word: string): Promise<void> {
    const parts: string[] = [];
    for (let start = 0; start < word.length; start += MAX_LETTERS) {
      parts.push(await this.decoded(word.slice(start, start + MAX_LETTERS)));
    }
    const sounds = parts.join(' ');
    this.known.set(word, [...sounds].some((symbol) => VOWELS.has(symbol)) ? sounds : '');
  }

  private async decoded(word: string): Promise<string> {
    const { letters, symbols, cache } = this.tables.g2p;
    const ids = [letters[`${this.tables.variant}-gold`]!, ...Array.from(word, (letter) => letters[letter] ?? END), END];
    const encoded = await this.encoder.run({ letters: integers(ids, 1, ids.length) });
    const memory = Object.values(encoded)[0]!;
    const [layers, pair, batch, heads, size] = cache as [number, number, number, number, number];
    let past = floats(new Float32Array(0), layers, pair, batch, heads, 0, size);
    let symbol = END;
    let phonemes = '';
    for (let step = 0; step < 3 * word.length + 4; step++) {
      const result = Object.values(await this.decoder.run({ symbol: integers([symbol], 1, 1), past, memory }));
      const scores = floatsOf(result[0]);
      symbol = scores.indexOf(Math.max(...scores));
      if (symbol === END) return phonemes;
      if (symbol >= FIRST_SYMBOL) phonemes += symbols[symbol - FIRST_SYMBOL]!;
      past = result[1]!;
    }
    return '';
  }
}
