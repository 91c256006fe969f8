/** Recording from the microphone. */

const TYPES = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4'];
const BIT_RATE = 128_000;

/** A recording under way. */
export interface Recorder {
  /** The loudest sample of the last moment, from 0 to 1. */
  level: () => number;
  /** End it; gives what was recorded. */
  stop: () => Promise<Blob>;
  /** End it and throw it away. */
  discard: () => void;
}

/** Start to record. Throws an Error with the user's fix where the browser has no microphone to give. */
export async function startRecorder(): Promise<Recorder> {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new Error(
      'This browser gives the microphone only to pages on https or on this computer; upload a file instead.',
    );
  }
  const stream = await microphone();
  const type = TYPES.find((known) => MediaRecorder.isTypeSupported(known));
  const recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: BIT_RATE });
  const parts: Blob[] = [];
  recorder.addEventListener('dataavailable', (event) => parts.push(event.data));
  const meter = levelMeter(stream);
  const release = () => {
    stream.getTracks().forEach((track) => track.stop());
    meter.close();
  };
  recorder.start();
  return {
    level: meter.level,
    stop: () =>
      new Promise((resolve) => {
        recorder.addEventListener('stop', () => {
          release();
          resolve(new Blob(parts, { type: recorder.mimeType }));
        });
        recorder.stop();
      }),
    discard: () => {
      if (recorder.state !== 'inactive') recorder.stop();
      release();
    },
  };
}

/** The microphone as it is: echo and noise filters change a voice. */
async function microphone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : '';
    if (name === 'NotFoundError') throw new Error('No microphone was found; connect one, or upload a file.');
    if (name === 'NotAllowedError') {
      throw new Error(
        "The microphone is blocked; allow it for this page in the browser's address bar, or upload a file.",
      );
    }
    throw new Error('The microphone cannot be used; see whether another program holds it, or upload a file.');
  }
}

function levelMeter(stream: MediaStream): { level: () => number; close: () => void } {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    level: () => {
      analyser.getFloatTimeDomainData(samples);
      return samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
    },
    close: () => void context.close(),
  };
}
