/** A dialogue as it is spoken: parts of the audio, and the turns that each belongs to. */
import { call } from '../../api/client';
import { PCM_RATE } from '../../api/speech';

export interface Part {
  audio: Uint8Array<ArrayBuffer>;
  /** When it is heard, in seconds. */
  start: number;
  end: number;
  /** Places of the turns, from 0; none for a pause. */
  turns: number[];
}

export interface DialogueBody {
  model?: string;
  turns: { voice: string; text: string }[];
  pause: number;
  seed: number;
}

interface Event {
  type: 'speech.audio.delta' | 'speech.audio.done' | 'error';
  audio?: string;
  chunk?: { start: number; end: number; sample_rate: number; turns: number[] };
  error?: { message: string };
}

/** Speak a dialogue; throws where the server refuses it, or breaks off. */
export async function* speakDialogue(
  body: DialogueBody,
  format: 'mp3' | 'pcm',
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const rate = format === 'pcm' ? { sample_rate: PCM_RATE } : {};
  const json = { ...body, ...rate, response_format: format, stream_format: 'sse' };
  const response = await call('v1/audio/dialogue', { json, signal, headers: { 'X-Polyvox-Chunks': '1' } });
  let end = 0;
  for await (const event of events(response)) {
    if (event.type === 'error') throw new Error(event.error?.message ?? 'The server broke off. Try again.');
    if (event.type === 'speech.audio.done') return;
    const { chunk } = event;
    const start = chunk ? chunk.start / chunk.sample_rate : end;
    end = chunk ? chunk.end / chunk.sample_rate : end;
    yield { audio: bytesOf(event.audio ?? ''), start, end, turns: chunk?.turns ?? [] };
  }
  throw new Error('The server broke off before the end. Try again.');
}

/** The whole dialogue as a file of an audio or caption format. */
export async function dialogueFile(body: DialogueBody, format: string): Promise<Blob> {
  return (await call('v1/audio/dialogue', { json: { ...body, response_format: format, stream: false } })).blob();
}

/** The turn that is heard at a time; -1 in a pause. */
export function turnAt(parts: Omit<Part, 'audio'>[], time: number): number {
  return parts.find(({ start, end }) => time >= start && time < end)?.turns[0] ?? -1;
}

async function* events(response: Response): AsyncGenerator<Event> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice(5)) as Event;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
