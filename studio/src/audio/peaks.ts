/** The outline of a sound, for its waveform. */
export interface Outline {
  peaks: number[];
  seconds: number;
}

const BARS = 160;
const RATE = 8_000;

/** Decode an audio file and find the loudest sample of each of its parts. */
export async function outlineOf(file: Blob): Promise<Outline> {
  const audio = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await file.arrayBuffer());
  const samples = audio.getChannelData(0);
  const size = Math.max(1, Math.ceil(samples.length / BARS));
  const peaks = Array.from({ length: Math.ceil(samples.length / size) }, (_, bar) => {
    let peak = 0;
    for (const sample of samples.subarray(bar * size, (bar + 1) * size)) peak = Math.max(peak, Math.abs(sample));
    return Math.round(peak * 100) / 100;
  });
  return { peaks, seconds: audio.duration };
}
