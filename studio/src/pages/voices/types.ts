/** Shapes of `/v1/voices` and `/v1/voices/fit`. */

export interface Fitted {
  model: string;
  base: string;
  similarity: number;
  base_similarity: number;
  word_errors: number | null;
}

export interface Quality {
  duration: number;
  speech_seconds: number;
  speech_ratio: number;
  snr_db: number;
  clipped_ratio: number;
  level_dbfs: number;
  score: number;
  warnings: string[];
  fitted?: Fitted;
}

export interface RegisteredVoice {
  id: string;
  name: string;
  transcript: string;
  transcription: 'given' | 'heard' | 'pending' | 'failed' | 'none';
  language: string | null;
  tags: string[];
  consent: boolean;
  consent_note: string;
  duration: number;
  quality: Quality;
  created: number;
  yours: boolean;
  /** Only in the answer to a registration. */
  warnings?: string[];
}

export interface Fit {
  id: string;
  name: string;
  status: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  progress: number;
  step: number;
  steps: number;
  similarity: number | null;
  created: number;
  voice: RegisteredVoice | null;
  error: { message: string; code: string | null } | null;
}
