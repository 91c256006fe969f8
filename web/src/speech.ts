import { ModelCache } from './model_cache';
import type { Manifest, Voice } from './manifest';
import type { Bytes } from './fetched';
import { G2p } from './reader/g2p';
import { Reader } from './reader/reader';
import type { Sentence } from './reader/reader';
import { phonemeSentences } from './reader/phonemes';
import type { ReaderTables, Variant } from './reader/tables';
import type { TextSpan } from './reader/tokens';
import { runtimeBinary, runtimeBytes } from './runtime';
import { chunksOf } from './wren/chunks';
import { WrenDecoder } from './wren/decoder';
import { Front } from './wren/front';
import { Graph, configureRuntime } from './wren/graph';
import { WrenModel } from './wren/model';
import type { LoadedVoice } from './wren/model';

/** Voices by name, with their shares; shares need not sum to 1. */
export type VoiceMix = Record<string, number>;

export interface SpeakOptions {
  /** A voice's name, or voices with their shares. */
  voice?: string | VoiceMix;
  /** From 0.5 to 2. */
  speed?: number;
  /** True if the text is phonemes already, as `POST /dev/phonemize` of a server gives them. */
  phonemes?: boolean;
}

/** A word of the text, and the seconds of the whole speech in which it is heard. */
export interface WordTime {
  text: string;
  start: number;
  end: number;
  span: TextSpan;
}

/** Samples in order, and the words that end in them. */
export interface SpeechPiece {
  pcm: Float32Array<ArrayBuffer>;
  sampleRate: number;
  /** Seconds of the whole speech at which it begins. */
  start: number;
  words: WordTime[];
}

/** Called while files come: bytes that are here, and those of all files asked for. */
export type Progress = (loaded: number, total: number) => void;

const GRAPHS = ['front.onnx', 'plan.onnx', 'filters.onnx', 'refiner.onnx'];
const NOISE = 'noise.f32';
const G2P = ['g2p_encoder.onnx', 'g2p_decoder.onnx'];
const VARIANTS: Record<string, Variant> = { 'en-us': 'us', 'en-gb': 'gb' };
const DEFAULT_VOICE = 'af_heart';

/** The model in this thread: reads text, and speaks it. */
export class Speech {
  private readonly readers = new Map<Variant, Promise<Reader>>();
  private readonly packs = new Map<string, Promise<Float32Array>>();
  private g2p: Promise<Graph[]> | undefined;

  private constructor(
    private readonly files: ModelCache,
    private readonly model: WrenModel,
  ) {}

  /** Fetch the model from an address, with what some voices need to speak text, and open its graphs. */
  static async load(base: string, { threads, voices }: { threads: number; voices: (string | VoiceMix)[] }, progress: Progress): Promise<Speech> {
    const files = await ModelCache.open(base);
    const mixes = voices.map((voice) => mixOf(voice, files.manifest));
    const names = [...new Set([...GRAPHS, NOISE, ...mixes.flatMap((mix) => filesOf(mix, files.manifest))])];
    const total = files.bytesOf(names) + runtimeBytes();
    let loaded = 0;
    const received = (bytes: number): void => progress((loaded += bytes), total);
    const [wasm] = await Promise.all([runtimeBinary(received), files.fetchAhead(names, received)]);
    configureRuntime(wasm, threads);
    const [front, plan, filters, refiner, noise] = (await files.files([...GRAPHS, NOISE])) as Files;
    const graphs = {
      plan: await Graph.open(plan),
      filters: await Graph.open(filters),
      refiner: await Graph.open(refiner),
    };
    const decoder = new WrenDecoder(graphs, new Float32Array(noise.buffer));
    const speech = new Speech(files, new WrenModel(new Front(await Graph.open(front)), decoder, files.manifest.ids));
    for (const mix of mixes) await speech.prepare(mix);
    return speech;
  }

  get voices(): Voice[] {
    return this.files.manifest.voices.map(({ id, name, language, gender }) => ({ id, name, language, gender }));
  }

  /** Speak a text, piece by piece. */
  async *speak(text: string, options: SpeakOptions = {}): AsyncGenerator<SpeechPiece> {
    const speed = options.speed ?? 1;
    if (!(speed >= 0.5 && speed <= 2)) throw new RangeError('speed must be from 0.5 to 2');
    const mix = mixOf(options.voice ?? DEFAULT_VOICE, this.files.manifest);
    const voice = await this.voice(mix);
    const sentences = options.phonemes ? phonemeSentences(text) : await this.read(text, languageOf(mix, this.files.manifest));
    const { sampleRate } = this.files.manifest;
    let samples = 0;
    for (const chunk of chunksOf(sentences)) {
      const first = samples;
      for await (const { pcm, words } of this.model.render(chunk, voice, speed)) {
        const timed = words.map(({ span, samples: spoken }) => ({
          text: text.slice(span.start, span.end),
          start: (first + spoken.start) / sampleRate,
          end: (first + spoken.end) / sampleRate,
          span,
        }));
        yield { pcm, sampleRate, start: samples / sampleRate, words: timed };
        samples += pcm.length;
      }
    }
  }

  /** The phonemes of a text, as this reader gives them. */
  async phonemize(text: string, language = 'en-us'): Promise<string> {
    const sentences = await this.read(text, language);
    const words = sentences.flatMap((sentence) => sentence.words);
    return words
      .map((word) => word.phonemes + (word.space ? ' ' : ''))
      .join('')
      .trimEnd();
  }

  private async read(text: string, language: string): Promise<Sentence[]> {
    const variant = VARIANTS[language];
    if (!variant) {
      throw new Error(`text in ${language} cannot be read here: give its phonemes, from POST /dev/phonemize of a server`);
    }
    return await (await this.reader(variant)).read(text);
  }

  private reader(variant: Variant): Promise<Reader> {
    const open = async (): Promise<Reader> => {
      const tables = JSON.parse(new TextDecoder().decode(await this.files.file(readerFile(variant)))) as ReaderTables;
      const [encoder, decoder] = (await this.unknownWords()) as [Graph, Graph];
      return new Reader(tables, new G2p(encoder, decoder, tables));
    };
    return kept(this.readers, variant, open);
  }

  private unknownWords(): Promise<Graph[]> {
    return (this.g2p ??= this.files.files(G2P).then((graphs) => Promise.all(graphs.map((graph) => Graph.open(graph)))));
  }

  /** Open what a voice needs to speak text, so that it speaks at once. */
  private async prepare(mix: Mix): Promise<void> {
    await this.voice(mix);
    const variant = VARIANTS[languageOf(mix, this.files.manifest)];
    if (variant) await this.reader(variant);
  }

  /** The weighted mean of voices' styles; their gains are averaged in decibels. */
  private async voice(mix: Mix): Promise<LoadedVoice> {
    const packs = await Promise.all(mix.map(([name]) => this.pack(name)));
    const gains = mix.map(([name]) => this.files.manifest.voices.find(({ id }) => id === name)!.gain);
    const pack = new Float32Array(packs[0]!.length);
    packs.forEach((each, part) => each.forEach((value, i) => (pack[i]! += mix[part]![1] * value)));
    const gain = Math.exp(mix.reduce((sum, [, share], part) => sum + share * Math.log(gains[part]!), 0));
    return { pack: mix.length === 1 ? packs[0]! : pack, gain };
  }

  private pack(name: string): Promise<Float32Array> {
    return kept(this.packs, name, async () => new Float32Array((await this.files.file(voiceFile(name))).buffer));
  }
}

/** Names of voices with shares that sum to 1. */
type Mix = readonly (readonly [string, number])[];
type Files = [Bytes, Bytes, Bytes, Bytes, Bytes];

function readerFile(variant: Variant): string {
  return `reader-${variant}.json`;
}

function voiceFile(name: string): string {
  return `voices/${name}.bin`;
}

/** A mix with shares that sum to 1; a voice that the bundle has not is refused. */
function mixOf(voice: string | VoiceMix, { voices }: Manifest): Mix {
  const parts = Object.entries(typeof voice === 'string' ? { [voice]: 1 } : voice).filter(([, share]) => share > 0);
  const total = parts.reduce((sum, [, share]) => sum + share, 0);
  const known = new Set(voices.map(({ id }) => id));
  for (const [name] of parts) if (!known.has(name)) throw new Error(`there is no voice ${name}`);
  if (!parts.length) throw new Error('a mix needs a voice with a share above 0');
  return parts.map(([name, share]) => [name, share / total]);
}

/** A mix speaks the language of its first voice. */
function languageOf(mix: Mix, { voices }: Manifest): string {
  return voices.find(({ id }) => id === mix[0]![0])!.language;
}

/** The files that a voice needs to speak text, besides the model. */
function filesOf(mix: Mix, manifest: Manifest): string[] {
  const variant = VARIANTS[languageOf(mix, manifest)];
  return [...mix.map(([name]) => voiceFile(name)), ...(variant ? [readerFile(variant), ...G2P] : [])];
}

/** What is under a key already, or what is made now; what fails is not kept. */
function kept<Key, Value>(made: Map<Key, Promise<Value>>, key: Key, make: () => Promise<Value>): Promise<Value> {
  let value = made.get(key);
  if (!value) {
    value = make();
    made.set(key, value);
    value.catch(() => made.delete(key));
  }
  return value;
}
