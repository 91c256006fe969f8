/** Shapes of `/v1/dictionaries`. */

export type EntryKind = 'word' | 'phrase' | 'regex';

export interface Entry {
  kind: EntryKind;
  match: string;
  /** A respelling. */
  say?: string;
  /** IPA, for models that work with phonemes. */
  phonemes?: string;
  language?: string;
  /** Whether capitals count; left to the server where it is absent. */
  case?: 'exact' | 'any';
}

export interface DictionarySummary {
  name: string;
  entries: number;
  languages: string[];
  default: boolean;
  /** Whether it is everyone's, so that only the server's operator changes it. */
  shared: boolean;
}

export interface Dictionary {
  default: boolean;
  entries: Entry[];
}

export interface Match {
  start: number;
  end: number;
  match: string;
  say: string;
  phonemes: string;
}

export interface Trial {
  spoken: string;
  matches: Match[];
  /** Patterns that take too long and were left out. */
  slow: string[];
}
