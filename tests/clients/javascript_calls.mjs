// Calls a server as JavaScript programs do: `javascript_calls.mjs PACKAGES URL KEY RECORDING SAMPLES`, URL with https.
// Prints a JSON object: for every call what came of it, or the error that the client raised.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [packages, url, key, recording, samples] = process.argv.slice(2);
const load = createRequire(path.join(packages, 'package.json'));
const OpenAI = load('openai');
const { OpenAIRealtimeWS } = load('openai/realtime/ws');
const { ElevenLabsClient } = load('@elevenlabs/elevenlabs-js');
const Cartesia = load('@cartesia/cartesia-js');
const { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebSocket, tool } = load('@openai/agents-realtime');
const { z } = load('zod');

const TEXT = 'One two, three.';
const UNKNOWN_VOICE = '01234567-89ab-4cde-8f01-23456789abcd';
const RAW = { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24000 };
const sample = () => new File([readFileSync(recording)], 'sample.flac', { type: 'audio/flac' });

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const elevenlabs = new ElevenLabsClient({ baseUrl: url, apiKey: key, maxRetries: 0 });
const cartesia = new Cartesia({ baseURL: url, apiKey: key, maxRetries: 0 });

const bytesOf = async (response) => (await response.arrayBuffer()).byteLength;

async function streamedBytes(stream) {
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  return bytes;
}

function realtime() {
  return new Promise((resolve, reject) => {
    const socket = new OpenAIRealtimeWS({ model: 'gpt-realtime' }, openai);
    let bytes = 0;
    socket.on('error', reject);
    socket.on('session.created', () =>
      socket.send({
        type: 'response.create',
        response: {
          conversation: 'none',
          input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: TEXT }] }],
        },
      }),
    );
    socket.on('response.output_audio.delta', (event) => (bytes += Buffer.from(event.delta, 'base64').length));
    socket.on('response.done', ({ response }) => {
      socket.close();
      resolve({ bytes, status: response.status });
    });
  });
}

function agent() {
  return new Promise((resolve, reject) => {
    const transport = new OpenAIRealtimeWebSocket({ url: `${url.replace('https', 'wss')}/v1/realtime?model=gpt-realtime` });
    const session = new RealtimeSession(new RealtimeAgent({ name: 'Reader', instructions: 'Read.' }), { transport });
    let bytes = 0;
    session.on('error', ({ error }) => reject(error));
    session.on('audio', ({ data }) => (bytes += data.byteLength));
    transport.on('turn_done', () => {
      session.close();
      resolve({ bytes });
    });
    session.connect({ apiKey: key }).then(() => session.sendMessage(TEXT), reject);
  });
}

function listeningAgent() {
  return new Promise((resolve, reject) => {
    const transport = new OpenAIRealtimeWebSocket({ url: `${url.replace('https', 'wss')}/v1/realtime?model=gpt-realtime` });
    const tools = [tool({ name: 'clock', description: 'The time.', parameters: z.object({}), execute: () => 'noon' })];
    const reader = new RealtimeAgent({ name: 'Reader', instructions: 'Read.', voice: 'high', tools });
    const session = new RealtimeSession(reader, { transport });
    let voice = null;
    session.on('error', ({ error }) => reject(new Error(JSON.stringify(error))));
    transport.on('session.updated', (event) => (voice = event.session.audio?.output?.voice ?? voice));
    // With a transcript the client fetches its item, and closing before that would be its error.
    transport.on('item_update', ({ role, content }) => {
      if (role !== 'user' || !content[0]?.transcript) return;
      setTimeout(() => {
        const [{ transcript }] = session.history.find((item) => item.role === 'user').content;
        session.close();
        resolve({ transcript, voice });
      });
    });
    const say = () => {
      const sound = readFileSync(samples);
      for (let at = 0; at < sound.length; at += 4800) session.sendAudio(new Uint8Array(sound.subarray(at, at + 4800)).buffer);
    };
    session.connect({ apiKey: key }).then(say, reject);
  });
}

async function cartesiaSocket() {
  const socket = await cartesia.tts.websocket();
  const voice = { mode: 'id', id: 'high' };
  let bytes = 0;
  for await (const event of socket.generate({ model_id: 'sonic-3', transcript: TEXT, voice, output_format: RAW })) {
    if (event.type === 'chunk') bytes += Buffer.from(event.data, 'base64').length;
    if (event.type === 'error') throw new Error(event.message);
  }
  socket.close();
  return { bytes };
}

async function cartesiaEvents() {
  const voice = { mode: 'id', id: 'high' };
  let bytes = 0;
  const events = await cartesia.tts.generateSSE({ model_id: 'sonic-3', transcript: TEXT, voice, output_format: RAW });
  for await (const event of events) if (event.type === 'chunk') bytes += Buffer.from(event.data, 'base64').length;
  return { bytes };
}

async function pages(list) {
  const names = [];
  for await (const voice of await list) names.push(voice.name);
  return names;
}

const spoken = (voice) => ({ model_id: 'sonic-3', transcript: TEXT, voice: { mode: 'id', id: voice }, output_format: RAW });
const speech = { text: TEXT, modelId: 'eleven_multilingual_v2', outputFormat: 'pcm_24000' };

const CALLS = {
  'openai audio.speech.create': async () =>
    bytesOf(await openai.audio.speech.create({ model: 'tts-1', voice: 'high', input: TEXT, response_format: 'pcm' })),
  'openai models.list': async () => (await openai.models.list()).data.map(({ id }) => id),
  'openai audio.voices.create': async () => {
    const { id, name } = await openai.audio.voices.create({
      type: 'audio_sample',
      name: 'by-openai',
      audio_sample: sample(),
      consent: 'cons_1234',
    });
    const answer = await openai.audio.speech.create({ model: 'tts-1', voice: { id }, input: TEXT });
    return { name, bytes: await bytesOf(answer) };
  },
  'openai realtime.ws': realtime,
  'agents-realtime': agent,
  'agents-realtime, listening': listeningAgent,
  'openai embeddings.create': () => openai.embeddings.create({ model: 'text-embedding-3-small', input: 'One.' }),
  'elevenlabs textToSpeech.convert': async () => streamedBytes(await elevenlabs.textToSpeech.convert('high', speech)),
  'elevenlabs textToSpeech.stream': async () => streamedBytes(await elevenlabs.textToSpeech.stream('high', speech)),
  'elevenlabs textToSpeech.convertWithTimestamps': async () =>
    (await elevenlabs.textToSpeech.convertWithTimestamps('high', speech)).alignment.characters.join(''),
  'elevenlabs user.get': async () => {
    const { userId, workspaceId, seatType, createdAt } = await elevenlabs.user.get();
    return { userId, workspaceId, seatType, createdAt };
  },
  'elevenlabs voices.getAll': async () => (await elevenlabs.voices.getAll()).voices.map(({ name }) => name),
  'elevenlabs voices.search': async () => (await elevenlabs.voices.search()).voices.map(({ name }) => name),
  'elevenlabs models.list': async () => (await elevenlabs.models.list()).map(({ modelId }) => modelId),
  'elevenlabs voices.ivc.create': async () => {
    const { voiceId } = await elevenlabs.voices.ivc.create({ name: 'by-elevenlabs', files: [sample()] });
    const bytes = await streamedBytes(await elevenlabs.textToSpeech.convert(voiceId, speech));
    return { bytes, deleted: (await elevenlabs.voices.delete(voiceId)).status };
  },
  'elevenlabs history.list': () => elevenlabs.history.list(),
  'cartesia tts.generate': async () => bytesOf(await cartesia.tts.generate(spoken('high'))),
  'cartesia tts.generateSSE': cartesiaEvents,
  'cartesia tts.websocket': cartesiaSocket,
  'cartesia tts.generate, unknown voice': () => cartesia.tts.generate(spoken(UNKNOWN_VOICE)),
  'cartesia voices.list': () => pages(cartesia.voices.list()),
  'cartesia voices.clone': async () => {
    const made = await cartesia.voices.clone({ clip: sample(), name: 'by-cartesia', language: 'en' });
    const bytes = await bytesOf(await cartesia.tts.generate(spoken(made.id)));
    await cartesia.voices.delete(made.id);
    return { name: made.name, bytes };
  },
  'cartesia stt.transcribe': () => cartesia.stt.transcribe({ file: sample(), model: 'ink-whisper' }),
};

const within = (call) =>
  Promise.race([call(), new Promise((_, reject) => setTimeout(() => reject(new Error('no end within a minute')), 60_000))]);

const found = {};
for (const [name, call] of Object.entries(CALLS)) {
  try {
    found[name] = { result: await within(call) };
  } catch (error) {
    const status = error.status ?? error.statusCode ?? null;
    found[name] = { error: { kind: error.constructor.name, status, body: error.error ?? error.body, message: error.message } };
  }
}
console.log(JSON.stringify(found));
process.exit(0);
