/** Calls of `/v1/voices` and `/v1/voices/fit`. */

import { call, getJson } from '../../api/client';
import type { Recording } from './recording_input';
import type { Fit, RegisteredVoice } from './types';

const PAGE = 100;

export interface NewVoice {
  name: string;
  transcript: string;
  language: string;
  consent: boolean;
  consentNote: string;
}

/** All voices that the caller may speak with, the newest first. */
export async function listVoices(signal: AbortSignal): Promise<RegisteredVoice[]> {
  const voices: RegisteredVoice[] = [];
  let after: string | null = '';
  do {
    const query = new URLSearchParams({ limit: String(PAGE), after });
    const page: { data: RegisteredVoice[]; next: string | null } = await getJson(`v1/voices?${query}`, { signal });
    voices.push(...page.data);
    after = page.next;
  } while (after);
  return voices;
}

export async function registerVoice(voice: NewVoice, recording: Recording): Promise<RegisteredVoice> {
  return getJson('v1/voices', bodyOf(voice, recording));
}

export async function startFit(voice: NewVoice, recording: Recording): Promise<Fit> {
  return getJson('v1/voices/fit', bodyOf(voice, recording));
}

export async function listFits(signal: AbortSignal): Promise<Fit[]> {
  return (await getJson<{ data: Fit[] }>('v1/voices/fit', { signal })).data;
}

export async function cancelFit(id: string): Promise<Fit> {
  return getJson(`v1/voices/fit/${id}`, { method: 'DELETE' });
}

export async function changeVoice(id: string, changes: Record<string, string>): Promise<RegisteredVoice> {
  return getJson(`v1/voices/${id}`, { method: 'PATCH', json: changes });
}

export async function deleteVoice(id: string): Promise<void> {
  await call(`v1/voices/${id}`, { method: 'DELETE' });
}

export async function recordingOf(id: string): Promise<Blob> {
  return (await call(`v1/voices/${id}/audio`)).blob();
}

/** A form for a file, JSON for an address; fields that are empty are left to the server. */
function bodyOf(voice: NewVoice, recording: Recording): { json: unknown } | { body: FormData } {
  const fields = Object.entries({
    name: voice.name,
    transcript: voice.transcript,
    language: voice.language,
    consent_note: voice.consentNote,
  }).filter(([, value]) => value);
  if ('url' in recording) {
    return { json: { ...Object.fromEntries(fields), consent: voice.consent, audio: `url+${recording.url}` } };
  }
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  form.set('consent', String(voice.consent));
  form.set('audio', recording.blob, recording.name);
  return { body: form };
}
