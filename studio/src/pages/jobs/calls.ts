/** Calls of `/v1/jobs`. */
import { call, getJson } from '../../api/client';
import type { Job } from './types';

export interface NewJob {
  /** A manuscript; where there is none, `text` is spoken. */
  file: File | null;
  text: string;
  title: string;
  author: string;
  cover: File | null;
  model: string;
  voice: string;
  speed: number;
  output: string[];
  /** The format of one more file for each chapter; empty for none. */
  chapter_files: string;
  captions: string[];
  dictionaries: string[];
}

export type JobCommand = 'pause' | 'resume' | 'cancel';

export async function listJobs(signal: AbortSignal): Promise<Job[]> {
  return (await getJson<{ jobs: Job[] }>('v1/jobs', { signal })).jobs;
}

export async function startJob(job: NewJob): Promise<Job> {
  const { file, cover, text, ...fields } = job;
  if (!file && !cover) return getJson('v1/jobs', { json: { ...given(fields), text, format: 'markdown' } });
  const form = new FormData();
  for (const [name, value] of Object.entries(given(fields))) {
    form.set(name, Array.isArray(value) ? JSON.stringify(value) : String(value));
  }
  form.set('file', file ?? new File([text], 'text.md', { type: 'text/markdown' }));
  if (cover) form.set('cover', cover);
  return getJson('v1/jobs', { body: form });
}

export async function commandJob(id: string, command: JobCommand): Promise<Job> {
  return getJson(`v1/jobs/${id}/${command}`, { method: 'POST' });
}

export async function deleteJob(id: string): Promise<void> {
  await call(`v1/jobs/${id}`, { method: 'DELETE' });
}

/** The fields that say something; the server has its own defaults for the others. */
function given(fields: Record<string, string | number | string[]>): Record<string, string | number | string[]> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => (Array.isArray(value) ? value.length : value)),
  );
}
