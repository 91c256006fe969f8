import { fetchChecked } from './fetched';
import type { Bytes, Digest, Received } from './fetched';
import { parseManifest } from './manifest';
import type { Manifest } from './manifest';

const CACHE = 'polyvox-web';

/** The files of a bundle, fetched once, checked, and kept by the browser: after that no network is needed. */
export class ModelCache {
  private readonly ahead = new Map<string, Promise<Bytes>>();

  private constructor(
    private readonly base: string,
    private readonly cache: Cache | null,
    readonly manifest: Manifest,
  ) {}

  /** Open the bundle at an address; without a network, as it was fetched last. */
  static async open(base: string): Promise<ModelCache> {
    // Pages that are not served over TLS have no cache; files are fetched each time there.
    const cache = 'caches' in globalThis ? await caches.open(CACHE) : null;
    const url = new URL('manifest.json', base).href;
    const response = await fetch(url, { cache: 'no-cache' }).catch(() => null);
    if (response?.ok) {
      const text = await response.clone().text();
      const manifest = parseManifest(text);
      await cache?.put(url, response);
      return new ModelCache(base, cache, manifest);
    }
    const kept = await cache?.match(url);
    if (!kept) throw new Error(`there is no model bundle at ${base}: ${response?.status ?? 'no network'}`);
    return new ModelCache(base, cache, parseManifest(await kept.text()));
  }

  /** Bytes of some files together. */
  bytesOf(names: readonly string[]): number {
    return names.reduce((sum, name) => sum + this.entry(name).bytes, 0);
  }

  /** Fetch files together; `file` then has them at once. */
  async fetchAhead(names: readonly string[], received: Received): Promise<void> {
    for (const name of names) this.ahead.set(name, this.obtain(name, received));
    await Promise.all(this.ahead.values());
  }

  /** The contents of files, in order. */
  async files(names: readonly string[]): Promise<Bytes[]> {
    return await Promise.all(names.map((name) => this.file(name)));
  }

  async file(name: string): Promise<Bytes> {
    const fetched = this.ahead.get(name);
    this.ahead.delete(name);
    return await (fetched ?? this.obtain(name));
  }

  /** A file from the cache or from the network. Its address has its hash, so that a changed file is another one. */
  private async obtain(name: string, received?: Received): Promise<Bytes> {
    const entry = this.entry(name);
    const url = `${new URL(name, this.base).href}?sha256=${entry.sha256}`;
    const kept = await this.cache?.match(url);
    if (kept) {
      const data = new Uint8Array(await kept.arrayBuffer());
      received?.(data.length);
      return data;
    }
    const data = await fetchChecked(url, name, entry, received);
    await this.keep(url, name, data);
    return data;
  }

  private entry(name: string): Digest {
    const entry = this.manifest.files[name];
    if (!entry) throw new Error(`the model bundle has no file ${name}`);
    return entry;
  }

  /** Keep a file, and drop older ones of its name. A browser without space goes on without. */
  private async keep(url: string, name: string, data: Bytes): Promise<void> {
    if (!this.cache) return;
    const path = new URL(name, this.base).href;
    for (const request of await this.cache.keys()) {
      if (request.url.split('?')[0] === path) await this.cache.delete(request);
    }
    try {
      await this.cache.put(url, new Response(data));
    } catch (error) {
      console.warn(`polyvox-web: ${name} is not kept for the next time`, error);
    }
  }
}
