/** How far a job is, in words, and how long it will still take. */

import type { Job, JobStatus } from './types';

/** A job's count of sentences at a moment, in milliseconds. */
export interface Mark {
  at: number;
  done: number;
}

const KEPT_MS = 120_000;

/** The marks of a running job with what it says now; those before a pause tell nothing about its pace. */
export function withMark(marks: Mark[], job: Job, at: number): Mark[] {
  if (job.status !== 'running') return [];
  return [...marks.filter((mark) => at - mark.at <= KEPT_MS), { at, done: job.progress.sentences_done }];
}

/** Seconds that a running job still needs at the pace of the last two minutes; null while nobody can tell. */
export function secondsLeft(marks: Mark[], job: Job): number | null {
  const [first, last] = [marks[0], marks.at(-1)];
  if (!first || !last || last.done <= first.done) return null;
  const each = (last.at - first.at) / 1000 / (last.done - first.done);
  return each * (job.progress.sentences - last.done);
}

const STATUS_WORDS: Record<JobStatus, string> = {
  queued: 'Waiting for its turn',
  running: 'Being spoken',
  paused: 'Paused',
  binding: 'Making the files',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function statusWords(status: JobStatus): string {
  return STATUS_WORDS[status] ?? status;
}

/** A length of time such as `3 h 5 min`, `2 min 10 s` or `8 s`. */
export function timeWords(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}

/** The length of a file's audio; empty where it has none. */
export function lengthWords({ seconds }: { seconds: number | null }): string {
  return seconds === null ? '' : timeWords(seconds);
}

/** The seconds of a job's speech: of its whole book once that is there, pauses and all. */
export function spokenSeconds({ files, progress }: Pick<Job, 'files' | 'progress'>): number {
  const book = files.find(({ kind }) => kind === 'book')?.seconds;
  const chapters = files.filter(({ kind }) => kind === 'chapter').reduce((sum, { seconds }) => sum + (seconds ?? 0), 0);
  return book ?? (chapters || progress.seconds_spoken);
}

/** A size such as `812 kB` or `34.1 MB`. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1000)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
