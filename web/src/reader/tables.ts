/** The reader's tables, as the export writes them from those of the server. */
export interface ReaderTables {
  variant: Variant;
  /** Words checked by hand, in their cases, and their sounds: one a line. */
  words: string;
  sounds: string;
  /** Words whose sound depends on their part of speech. */
  byRole: Record<string, Sounds>;
  /** Further words in lower case. */
  lowerWords: string;
  lowerSounds: string;
  /** Closed classes of words that tell the role of their neighbours. */
  classes: Record<string, string[]>;
  /** Abbreviations before a name; their full stop ends no sentence. */
  titles: Record<string, string>;
  /** Abbreviations whose full stop may also end a sentence. */
  abbreviations: Record<string, string>;
  /** Those that are other words at the end of a sentence. */
  abbreviationsWithin: Record<string, string>;
  /** Signs that are read as words. */
  signs: Record<string, string>;
  /** Capitals that are far more often a stressed word than an acronym. */
  emphatic: string[];
  numbers: { ones: string[]; tens: string[]; scales: string[]; ordinals: Record<string, string> };
  months: string[];
  /** Letters and symbols of the network for unknown words. */
  g2p: { letters: Record<string, number>; symbols: string[]; cache: number[] };
}

export type Variant = 'us' | 'gb';

/** Phonemes by part of speech; null is an acronym, to be spelled out. */
export type Sounds = Record<string, string | null>;
export type Entry = string | Sounds;

/** The pronouncing dictionary of one variant of English. */
export class Lexicon {
  readonly variant: Variant;
  private readonly gold: Map<string, Entry>;
  private readonly lower: Map<string, string>;

  constructor(tables: ReaderTables) {
    this.variant = tables.variant;
    this.gold = new Map<string, Entry>(paired(tables.words, tables.sounds));
    for (const [word, sounds] of Object.entries(tables.byRole)) this.gold.set(word, sounds);
    this.lower = new Map(paired(tables.lowerWords, tables.lowerSounds));
  }

  /** The entry in whatever case comes nearest. */
  find(word: string): Entry | undefined {
    const lower = word.toLowerCase();
    const capitalised = lower.slice(0, 1).toUpperCase() + lower.slice(1);
    for (const form of [word, lower, capitalised]) {
      const entry = this.gold.get(form);
      if (entry !== undefined && (form.length > 1 || form === word)) return entry;
    }
    return this.lower.get(lower);
  }

  /** The entry of a word that was checked by hand, as it is written. */
  exact(word: string): Entry | undefined {
    return this.gold.get(word);
  }

  /** The name of a letter from a to z. */
  letter(letter: string): string {
    const name = this.gold.get(letter.toUpperCase());
    return typeof name === 'string' ? name : '';
  }
}

function paired(words: string, sounds: string): [string, string][] {
  const values = sounds.split('\n');
  return words.split('\n').map((word, index) => [word, values[index] ?? '']);
}
