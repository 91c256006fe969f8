/** What making a voice still needs, as `/v1/pulls` answers it. */

import { getJson } from '../../api/client';

export type Purpose = 'transcribe' | 'clone' | 'fit';

export interface MissingModel {
  model: string;
  title: string;
  licence: { code: string; weights: string };
  /** Bytes to fetch; null where nobody knows beforehand. */
  bytes: number | null;
  /** At most so many. */
  max_bytes: number;
}

export interface Need {
  purpose: Purpose;
  ready: boolean;
  missing: MissingModel[];
  /** Something that no fetching mends. */
  reason: string | null;
  /** The model that clones, where one does, and whether it needs no words of the recording. */
  model: string | null;
  wordless: boolean;
}

export interface Pull {
  model: string;
  status: 'running' | 'done' | 'failed' | 'cancelled';
  step: string;
  bytes_done: number;
  bytes_total: number;
  error: string | null;
}

export interface Needs {
  /** Whether this user may have models fetched. */
  allowed: boolean;
  data: Need[];
  pull: Pull | null;
}

export async function getNeeds(signal: AbortSignal): Promise<Needs> {
  return getJson('v1/pulls', { signal });
}

export async function startPull(model: string): Promise<Pull> {
  return getJson('v1/pulls', { json: { model } });
}

export async function cancelPull(): Promise<Pull> {
  return getJson('v1/pulls', { method: 'DELETE' });
}

/** The need of a purpose; undefined while nobody knows. */
export function needOf(needs: Needs | null, purpose: Purpose): Need | undefined {
  return needs?.data.find((need) => need.purpose === purpose);
}

/** True if a purpose can be served now; also while nobody knows. */
export function isReady(needs: Needs | null, purpose: Purpose): boolean {
  return needOf(needs, purpose)?.ready ?? true;
}
