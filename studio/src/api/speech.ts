/** Speech as a stream that carries audio and the times of its words. */
import { call, jsonLines } from './client';

export interface SpeechRequest {
  input: string;
  /** Empty: the server's default model. */
  model: string;
  /** A voice or a mix; empty: the model's default voice. */
  voice: string;
  speed: number;
  /** How to speak, or what the voice is like, for models that follow it; empty: nothing. */
  instructions?: string;
  /** For models that sample: the same number gives the same speech again, as for a download. */
  seed?: number;
}

/** A word as it stands in the text, and when it is spoken, in seconds from the start of the audio. */
export interface Word {
  word: string;
  start: number;
  end: number;
}

export interface SpeechPart {
  audio: Uint8Array;
  words: Word[];
}

export interface SpeechStream {
  /** What the server says of the request, such as an option that the model ignores. */
  warning: string;
  parts: AsyncGenerator<SpeechPart>;
}

export const PCM_RATE = 24_000;
export const AUDIO_FORMATS = ['mp3', 'wav', 'flac', 'opus', 'aac', 'webm', 'pcm'] as const;
export const CAPTION_FORMATS = [
  { value: 'srt', label: 'SRT', suffix: 'srt' },
  { value: 'vtt', label: 'WebVTT', suffix: 'vtt' },
  { value: 'word_vtt', label: 'WebVTT, word by word', suffix: 'vtt' },
] as const;

export async function streamSpeech(request: SpeechRequest, format: 'mp3' | 'pcm', signal: AbortSignal): Promise<SpeechStream> {
  const rate = format === 'pcm' ? { sample_rate: PCM_RATE } : {};
  const response = await call('dev/captioned_speech', {
    json: { ...bodyOf(request), ...rate, response_format: format, stream: true },
    signal,
  });
  return { warning: response.headers.get('X-Polyvox-Warning') ?? '', parts: parts(response) };
}

/** The whole speech as a file of an audio or caption format. */
export async function speechFile(request: SpeechRequest, format: string): Promise<Blob> {
  const response = await call('v1/audio/speech', { json: { ...bodyOf(request), response_format: format, stream: false } });
  return response.blob();
}

interface Line {
  audio: string;
  timestamps: { word: string; start_time: number; end_time: number }[] | null;
}

async function* parts(response: Response): AsyncGenerator<SpeechPart> {
  for await (const { audio, timestamps } of jsonLines<Line>(response)) {
    yield {
      audio: Uint8Array.from(atob(audio), (char) => char.charCodeAt(0)),
      words: (timestamps ?? []).map((each) => ({ word: each.word, start: each.start_time, end: each.end_time })),
    };
  }
}

/** Fields that are empty are left to the server. */
function bodyOf({ input, model, voice, speed, instructions, seed }: SpeechRequest): Record<string, unknown> {
  const optional = { ...(model && { model }), ...(voice && { voice }), ...(instructions && { instructions }) };
  return { input, speed, ...optional, ...(seed !== undefined && { seed }) };
}
