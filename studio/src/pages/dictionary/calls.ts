/** Calls of `/v1/dictionaries`. */
import { call, getJson } from '../../api/client';
import type { Dictionary, DictionarySummary, Trial } from './types';

export async function listDictionaries(signal: AbortSignal): Promise<DictionarySummary[]> {
  return (await getJson<{ dictionaries: DictionarySummary[] }>('v1/dictionaries', { signal })).dictionaries;
}

export async function getDictionary(name: string, signal: AbortSignal): Promise<Dictionary> {
  return getJson(pathOf(name), { signal });
}

export async function putDictionary(name: string, dictionary: Dictionary): Promise<void> {
  await call(pathOf(name), { method: 'PUT', json: dictionary });
}

/** Make a dictionary of a W3C Pronunciation Lexicon. */
export async function importLexicon(name: string, lexicon: Blob): Promise<void> {
  await call(pathOf(name), { method: 'PUT', body: lexicon, headers: { 'Content-Type': 'application/pls+xml' } });
}

export async function deleteDictionary(name: string): Promise<void> {
  await call(pathOf(name), { method: 'DELETE' });
}

export async function tryDictionary(name: string, text: string, language: string): Promise<Trial> {
  return getJson(`${pathOf(name)}/try`, { json: { text, ...(language && { language }) } });
}

function pathOf(name: string): string {
  return `v1/dictionaries/${encodeURIComponent(name)}`;
}
