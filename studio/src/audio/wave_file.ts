/** A WAV file of 16-bit PCM in one channel. */
const HEADER_BYTES = 44;

export function waveFile(parts: readonly Uint8Array[], rate: number): Blob {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  const text = (at: number, chars: string) => [...chars].forEach((char, index) => header.setUint8(at + index, char.charCodeAt(0)));
  text(0, 'RIFF');
  header.setUint32(4, HEADER_BYTES - 8 + bytes, true);
  text(8, 'WAVEfmt ');
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // channels
  header.setUint32(24, rate, true);
  header.setUint32(28, rate * 2, true);
  header.setUint16(32, 2, true); // bytes of a sample
  header.setUint16(34, 16, true);
  text(36, 'data');
  header.setUint32(40, bytes, true);
  return new Blob([header.buffer, ...(parts as Uint8Array<ArrayBuffer>[])], { type: 'audio/wav' });
}
