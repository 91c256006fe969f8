/** Shapes of `/v1/jobs`. */

export type JobStatus = 'queued' | 'running' | 'paused' | 'binding' | 'done' | 'failed' | 'cancelled';

export interface JobProgress {
  sentences_done: number;
  sentences: number;
  chapter: number;
  chapters: number;
  seconds_spoken: number;
  percent: number;
}

export interface JobFile {
  name: string;
  media_type: string;
  bytes: number;
  kind: 'book' | 'chapter' | 'captions';
  chapter: number | null;
  /** The length of its audio; null for captions. */
  seconds: number | null;
  saved_name: string;
  url: string;
}

export interface Job {
  id: string;
  status: JobStatus;
  created: number;
  title: string;
  progress: JobProgress;
  error: { code: string; message: string } | null;
  files: JobFile[];
  expires: number | null;
}

export function isOver(status: JobStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}
