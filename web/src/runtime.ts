import { fetchChecked } from './fetched';
import type { Bytes, Digest, Received } from './fetched';

/** ONNX Runtime's WebAssembly among the package's files, as the build found it; its name has its hash. */
declare const RUNTIME: Digest & { file: string };

const CACHE = 'polyvox-web-runtime';

/** Bytes of ONNX Runtime's WebAssembly. */
export function runtimeBytes(): number {
  return RUNTIME.bytes;
}

/** ONNX Runtime's WebAssembly, from the package's own files or as it was kept. */
export async function runtimeBinary(received: Received): Promise<Bytes> {
  const url = new URL(RUNTIME.file, import.meta.url).href;
  const cache = 'caches' in globalThis ? await caches.open(CACHE) : null;
  const kept = await cache?.match(url);
  if (kept) {
    received(RUNTIME.bytes);
    return new Uint8Array(await kept.arrayBuffer());
  }
  const data = await fetchChecked(url, RUNTIME.file, RUNTIME, received);
  for (const request of (await cache?.keys()) ?? []) await cache?.delete(request);
  await cache?.put(url, new Response(data)).catch((error: unknown) => {
    console.warn('polyvox-web: the runtime is not kept for the next time', error);
  });
  return data;
}

/** Threads for the graphs: half of the cores, where the page is isolated from other origins. */
export function usualThreads(): number {
  return globalThis.crossOriginIsolated ? Math.min(4, Math.max(1, Math.ceil(navigator.hardwareConcurrency / 2))) : 1;
}
