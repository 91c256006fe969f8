/** Speech on the user's own device: the browser package and its model, loaded when they are first asked for. */
import type { Voice } from '../api/lists';
import type { SpeechPart, SpeechRequest } from '../api/speech';
import { address, getJson } from '../api/client';
import { preferences } from '../preferences';
import { createStore } from '../store';
import { DEVICE, sharesOf } from './voices';

export interface DeviceState {
  status: 'off' | 'loading' | 'ready' | 'failed';
  /** Bytes that are here, and those of all that is loaded; 0 as long as nobody knows. */
  loaded: number;
  total: number;
  /** Null until the list of files is here. */
  voices: Voice[] | null;
  error: unknown;
}

/** What the Studio uses of the package `polyvox-web`. */
interface Synthesizer {
  speak(text: string, options: { voice: Record<string, number>; speed: number }): AsyncGenerator<Piece>;
}

interface Piece {
  pcm: Float32Array;
  words: { text: string; start: number; end: number }[];
}

interface Package {
  Synthesizer: {
    load(options: { model: string; voices: Record<string, number>[]; progress: (loaded: number, total: number) => void }): Promise<Synthesizer>;
  };
}

interface Manifest {
  voices: { id: string; name: string; language: string; gender: string }[];
}

const FIRST_VOICE = 'af_heart';
const OFF: DeviceState = { status: 'off', loaded: 0, total: 0, voices: null, error: null };

export const device = createStore<DeviceState>(OFF);
let synthesizer: Promise<Synthesizer> | null = null;

/** Why this browser cannot speak by itself, and the remedy; empty where it can. */
export function obstacle(): string {
  if (!isSecureContext) return 'Browsers speak by themselves only on pages over HTTPS, or on the computer of the server. Start the server with a certificate for that.';
  if (typeof WebAssembly === 'undefined' || !('caches' in window)) return 'This browser is too old to speak by itself; take one of 2023 or later.';
  return '';
}

/** Load the package and its model, once; what fails is tried again at the next call. */
export function loadDevice(): Promise<Synthesizer> {
  if (synthesizer) return synthesizer;
  device.set({ ...OFF, status: 'loading' });
  const begun = (synthesizer = load());
  begun.then(
    () => change({ status: 'ready' }),
    (error: unknown) => {
      synthesizer = null;
      change({ status: 'failed', error });
    },
  );
  return begun;
}

/** Speak a text here: parts as the server's stream has them, in PCM. */
export async function* speakHere({ input, voice, speed }: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechPart> {
  const speaker = await loadDevice();
  for await (const { pcm, words } of speaker.speak(input, { voice: sharesOf(voice || defaultVoice()), speed })) {
    signal.throwIfAborted();
    yield { audio: pcm16(pcm), words: words.map(({ text, start, end }) => ({ word: text, start, end })) };
  }
}

async function load(): Promise<Synthesizer> {
  const problem = obstacle();
  if (problem) throw new Error(problem);
  const { module, model } = await getJson<{ module: string; model: string }>('web/device');
  const { voices } = await getJson<Manifest>(`${model}/manifest.json`);
  const first = (voices.find(({ id }) => id === FIRST_VOICE) ?? voices[0])?.id;
  change({
    voices: voices.map(({ name, ...voice }) => ({ ...voice, title: name, description: '', is_default: voice.id === first, available: true, reason: '' })),
  });
  const { Synthesizer } = (await import(/* @vite-ignore */ address(module))) as Package;
  const progress = (loaded: number, total: number) => change({ loaded, total });
  return await Synthesizer.load({ model: address(model), voices: [sharesOf(chosenVoice())], progress });
}

/** The voice that was chosen here before, as far as it is still there. */
function chosenVoice(): string {
  const chosen = preferences.get().voices[DEVICE] ?? '';
  const known = new Set(device.get().voices?.map(({ id }) => id));
  const parts = Object.keys(sharesOf(chosen));
  return parts.length > 0 && parts.every((part) => known.has(part)) ? chosen : defaultVoice();
}

function defaultVoice(): string {
  return device.get().voices?.find(({ is_default }) => is_default)?.id ?? FIRST_VOICE;
}

function change(changes: Partial<DeviceState>): void {
  device.set({ ...device.get(), ...changes });
}

function pcm16(samples: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  samples.forEach((sample, at) => view.setInt16(at * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), true));
  return new Uint8Array(view.buffer);
}
