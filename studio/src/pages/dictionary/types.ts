/** Shapes of `/v1/dictionaries`. */

export type EntryKind = 'word' | 'phrase' | 'regex';

export interface Entry {
  kind: EntryKind;
  match: string;
  say?: string;
  phonemes?: string;
  alphabet?: string;
  language?: string;
}

export interface DictionarySummary {
  name: string;
  entries: number;
  languages: string[];
  default: boolean;
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
}

export interface Trial {
  spoken: string;
  matches: Match[];
}
