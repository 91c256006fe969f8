export type Bytes = Uint8Array<ArrayBuffer>;

/** Size and SHA-256 that a file must have. */
export interface Digest {
  bytes: number;
  sha256: string;
}

/** Called with each number of bytes that have come. */
export type Received = (bytes: number) => void;

/** Fetch a file, and refuse one that is not what its digest says. */
export async function fetchChecked(url: string, name: string, digest: Digest, received?: Received): Promise<Bytes> {
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) throw new Error(`${name} cannot be fetched: ${response?.status ?? 'no network'}`);
  const data = new Uint8Array(digest.bytes);
  let filled = 0;
  for await (const part of partsOf(response)) {
    if (filled + part.length > data.length) throw new Error(`${name} is longer than it should be`);
    data.set(part, filled);
    filled += part.length;
    received?.(part.length);
  }
  if (filled !== digest.bytes || (await hashOf(data)) !== digest.sha256) throw new Error(`${name} is not what it should be: load the page again`);
  return data;
}

async function* partsOf(response: Response): AsyncGenerator<Bytes> {
  const reader = response.body!.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** SHA-256 in hexadecimal digits; only pages over TLS, and those of this machine, can tell it. */
async function hashOf(data: Bytes): Promise<string> {
  if (!globalThis.crypto?.subtle) throw new Error('polyvox-web needs a page that is served over HTTPS, or by localhost');
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
