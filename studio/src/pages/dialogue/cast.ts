/** The people of a dialogue: names, and the voices that speak for them. */
import type { Turn } from './script';

export interface Role {
  /** Tells roles apart while they are renamed; never sent. */
  key: number;
  name: string;
  voice: string;
}

/** What a turn has as its voice where one of the cast speaks it. */
export function roleVoice({ key }: Role): string {
  return `cast:${key}`;
}

/** The voice to send for a turn's voice. */
export function voiceOf(voice: string, cast: readonly Role[]): string {
  return cast.find((role) => roleVoice(role) === voice)?.voice ?? voice;
}

/** Turns of a script, whose speakers are names of the cast or voices. */
export function withRoles(turns: Turn[], cast: readonly Role[]): Turn[] {
  return spokenBy(turns, (voice) => {
    const role = cast.find(({ name }) => name.trim() === voice);
    return role ? roleVoice(role) : voice;
  });
}

/** Turns as a script names their speakers. */
export function withNames(turns: Turn[], cast: readonly Role[]): Turn[] {
  return spokenBy(turns, (voice) => cast.find((role) => roleVoice(role) === voice)?.name.trim() || voiceOf(voice, cast));
}

/** Turns after one of the cast is gone: its voice speaks them still. */
export function without(turns: Turn[], gone: Role): Turn[] {
  return spokenBy(turns, (voice) => voiceOf(voice, [gone]));
}

function spokenBy(turns: Turn[], change: (voice: string) => string): Turn[] {
  return turns.map((turn) => ({ ...turn, voice: change(turn.voice) }));
}

/** Every occurrence of a text in the turns replaced by another, and how many there were. */
export function replaced(turns: Turn[], find: string, by: string): { turns: Turn[]; count: number } {
  if (!find) return { turns, count: 0 };
  const count = turns.reduce((sum, { text }) => sum + text.split(find).length - 1, 0);
  return { turns: turns.map((turn) => ({ ...turn, text: turn.text.replaceAll(find, () => by) })), count };
}

export function isCast(value: unknown): value is Role[] {
  return Array.isArray(value) && value.every(isRole);
}

function isRole(value: unknown): value is Role {
  const { key, name, voice } = (value ?? {}) as Partial<Role>;
  return typeof key === 'number' && typeof name === 'string' && typeof voice === 'string';
}
