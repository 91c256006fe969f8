import type { Digest } from './fetched';

/** One of the built-in voices. */
export interface Voice {
  id: string;
  name: string;
  language: string;
  gender: string;
}

/** The list of a bundle's files, as the server's export writes it. */
export interface Manifest {
  format: number;
  sampleRate: number;
  maxPhonemes: number;
  ids: Record<string, number>;
  voices: (Voice & { gain: number })[];
  files: Record<string, Digest>;
}

const FORMAT = 1;

/** The manifest in a JSON document; an error says what to do where it is none of this package's. */
export function parseManifest(text: string): Manifest {
  const manifest = JSON.parse(text) as Partial<Manifest> | null;
  if (manifest?.format !== FORMAT || !manifest.files || !manifest.voices || !manifest.ids) {
    throw new Error(`the model bundle has not format ${FORMAT}: export it with the release that this package is of`);
  }
  return manifest as Manifest;
}
