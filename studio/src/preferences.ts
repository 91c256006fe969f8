/** What this browser remembers of its user. Nothing of it is sent anywhere but the key, to this server. */
import { createStore, useStore } from './store';

/** Where speech is made. */
export type Place = 'server' | 'device';
export type Theme = 'system' | 'light' | 'dark';

export interface Mix {
  name: string;
  model: string;
  expression: string;
}

export interface Preferences {
  theme: Theme;
  /** Empty: the server's default. */
  model: string;
  /** The voice to begin with, by model. */
  voices: Record<string, string>;
  speed: number;
  place: Place;
  /** Of the player bar: loudness from 0 to 1, and how many times as fast it plays. */
  volume: number;
  playbackRate: number;
  /** `model/voice`. */
  favourites: string[];
  mixes: Mix[];
  text: string;
  /** How to speak, by model. */
  instructions: Record<string, string>;
}

const NAME = 'polyvox.preferences';
const KEY_NAME = 'polyvox.key';
const DEFAULTS: Preferences = { theme: 'system', model: '', voices: {}, speed: 1, place: 'server', volume: 1, playbackRate: 1, favourites: [], mixes: [], text: '', instructions: {} };

export const preferences = createStore<Preferences>({ ...DEFAULTS, ...readJson(NAME) });
export const apiKey = createStore<string>(read(sessionStorage, KEY_NAME) || read(localStorage, KEY_NAME));

export function usePreferences(): Preferences {
  return useStore(preferences);
}

export function setPreferences(changes: Partial<Preferences>): void {
  preferences.set({ ...preferences.get(), ...changes });
  write(localStorage, NAME, JSON.stringify(preferences.get()));
}

/** Keep the key until the tab is closed, or on this device until it is forgotten. */
export function keepKey(key: string, onDevice: boolean): void {
  localStorage.removeItem(KEY_NAME);
  sessionStorage.removeItem(KEY_NAME);
  if (key) write(onDevice ? localStorage : sessionStorage, KEY_NAME, key);
  apiKey.set(key);
}

export function isKeyOnDevice(): boolean {
  return read(localStorage, KEY_NAME) !== '';
}

export function isFavourite(model: string, voice: string): boolean {
  return preferences.get().favourites.includes(`${model}/${voice}`);
}

export function toggleFavourite(model: string, voice: string): void {
  const name = `${model}/${voice}`;
  const others = preferences.get().favourites.filter((each) => each !== name);
  setPreferences({ favourites: isFavourite(model, voice) ? others : [...others, name] });
}

function read(storage: Storage, name: string): string {
  return storage.getItem(name) ?? '';
}

function readJson(name: string): Partial<Preferences> {
  try {
    const value: unknown = JSON.parse(read(localStorage, name) || '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // written by another version, or by hand
  }
}

function write(storage: Storage, name: string, value: string): void {
  try {
    storage.setItem(name, value);
  } catch {
    // The browser's storage is full or off: the choice then lasts until the page is closed.
  }
}
