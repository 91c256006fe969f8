import type { Voice } from './manifest';
import type { SpeakOptions, SpeechPiece, VoiceMix } from './speech';

/** Requests to the worker; all but `taken` and `stop` are answered under their number. */
export type Request =
  | { kind: 'load'; id: number; model: string; threads: number; voices: (string | VoiceMix)[] }
  | { kind: 'phonemize'; id: number; text: string; language: string | undefined }
  | { kind: 'speak'; id: number; text: string; options: SpeakOptions }
  | { kind: 'taken'; id: number }
  | { kind: 'stop'; id: number };

/** Answers of the worker. `done` and `failed` are the last of a request. */
export type Answer =
  | { kind: 'progress'; id: number; loaded: number; total: number }
  | { kind: 'piece'; id: number; piece: SpeechPiece }
  | { kind: 'done'; id: number; voices?: Voice[]; phonemes?: string }
  | { kind: 'failed'; id: number; message: string };

/** Pieces that the worker is ahead of whoever takes them. */
export const PIECES_AHEAD = 32;
