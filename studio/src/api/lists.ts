/** The models of this server and their voices. */
import { useEffect, useState } from 'preact/hooks';
import { device } from '../device/device';
import { DEVICE } from '../device/voices';
import { apiKey, usePreferences } from '../preferences';
import { useStore } from '../store';
import { byGrade } from '../voice_ranking';
import { getJson } from './client';

export interface Capabilities {
  languages: string[];
  sample_rate: number;
  cloning: boolean;
  dialogue: boolean;
  instructions: boolean;
  voice_design: boolean;
  word_timings: boolean;
  voice_mixing: boolean;
  stochastic: boolean;
}

export interface Model {
  id: string;
  root: string;
  available: boolean;
  reason: string | null;
  loaded: boolean;
  capabilities: Capabilities | null;
}

export interface Voice {
  id: string;
  title: string;
  language: string;
  gender: string;
  description: string;
  grade?: string;
  /** Whether it speaks where no voice is named. */
  is_default: boolean;
  available: boolean;
  reason: string;
}

/** What was asked for: not here yet, here, or refused. `reload` asks again. */
export interface Loaded<T> {
  value: T | null;
  error: unknown;
  reload: () => void;
}

/** Load something when the component appears, and again when the key or one of `inputs` changes. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const key = useStore(apiKey);
  const [round, setRound] = useState(0);
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null });
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, error: null }),
      (error: unknown) => !abort.signal.aborted && setState({ value: null, error }),
    );
    return () => abort.abort();
  }, [key, round, ...inputs]);
  return { ...state, reload: () => setRound(round + 1) };
}

/** The models by their own names, the default one first. */
export function useModels(): Loaded<Model[]> {
  return useLoaded(async () => ownNames((await kept<{ data: Model[] }>('v1/models')).data), []);
}

/** The models that can speak, and the one that the user chose among them: else the first, the server's default. */
export function useChosenModel(filter: (model: Model) => boolean = () => true): ChosenModel {
  const { value, error } = useModels();
  const { model } = usePreferences();
  const models = (value ?? []).filter((each) => each.available && filter(each));
  const chosen = models.find(({ id }) => id === model) ?? models[0] ?? null;
  return { models, chosen, model: chosen?.id ?? '', error, isLoaded: value !== null };
}

export interface ChosenModel {
  models: Model[];
  chosen: Model | null;
  /** Its name; empty until the list is here. */
  model: string;
  error: unknown;
  isLoaded: boolean;
}

/** The voices of a model or of the device, the best first; none as long as the name is empty. */
export function useVoices(model: string): Loaded<Voice[]> {
  const path = `v1/audio/voices?model=${encodeURIComponent(model)}`;
  const { voices: here } = useStore(device);
  const loaded = useLoaded(async () => (model && model !== DEVICE ? listed(await kept<VoiceList>(path)) : null), [model]);
  if (model === DEVICE) return { value: here, error: null, reload: () => undefined };
  return { ...loaded, reload: () => (forgetLists(), loaded.reload()) };
}

interface VoiceList {
  voices: Omit<Voice, 'is_default'>[];
  default_voice: string;
}

function listed({ voices, default_voice }: VoiceList): Voice[] {
  return byGrade(voices.map((voice) => ({ ...voice, is_default: voice.id === default_voice })));
}

const KEPT_MS = 60_000;
const lists = new Map<string, { asked: number; answer: Promise<unknown> }>();
apiKey.subscribe(forgetLists);

/** Ask for the lists anew; for those who have changed one, such as by adding a voice. */
export function forgetLists(): void {
  lists.clear();
}

/** A list that several components show; asked for once a minute. */
function kept<T>(path: string): Promise<T> {
  const known = lists.get(path);
  if (known && performance.now() - known.asked < KEPT_MS) return known.answer as Promise<T>;
  const answer = getJson<T>(path);
  lists.set(path, { asked: performance.now(), answer });
  answer.catch(() => lists.delete(path));
  return answer;
}

/** OpenAI's names, whose root is another model, stand for the default one. */
function ownNames(models: Model[]): Model[] {
  const byDefault = models.find((model) => model.id !== model.root)?.root;
  const own = models.filter((model) => model.id === model.root);
  return [...own.filter((model) => model.id === byDefault), ...own.filter((model) => model.id !== byDefault)];
}
