/** The name of ONNX Runtime's WebAssembly among the package's files; the build puts its hash into it. */
declare const RUNTIME_FILE: string;

const CACHE = 'polyvox-web-runtime';

/** ONNX Runtime's WebAssembly, from the package's own files or as it was kept. */
export async function runtimeBinary(): Promise<Uint8Array> {
  const url = new URL(RUNTIME_FILE, import.meta.url).href;
  const cache = 'caches' in globalThis ? await caches.open(CACHE) : null;
  const kept = await cache?.match(url);
  if (kept) return new Uint8Array(await kept.arrayBuffer());
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${RUNTIME_FILE} cannot be fetched: ${response.status}`);
  const data = new Uint8Array(await response.arrayBuffer());
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
