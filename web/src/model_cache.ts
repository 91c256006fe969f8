import { parseManifest } from './manifest';
import type { Manifest } from './manifest';

const CACHE = 'polyvox-web';

/** Called while files are fetched: bytes that have come, and those of all files asked for. */
export type Progress = (loaded: number, total: number) => void;

/** The files of a bundle, fetched once, checked, and kept by the browser: after that no network is needed. */
export class ModelCache {
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

  /** The contents of files, in order. */
  async files(names: readonly string[], progress?: Progress): Promise<Uint8Array<ArrayBuffer>[]> {
    const total = names.reduce((sum, name) => sum + this.entry(name).bytes, 0);
    let loaded = 0;
    return await Promise.all(
      names.map(async (name) => {
        const data = await this.file(name);
        progress?.((loaded += data.length), total);
        return data;
      }),
    );
  }

  /** One file. Its address has its hash, so that a changed file is another one. */
  async file(name: string): Promise<Uint8Array<ArrayBuffer>> {
    const { bytes, sha256 } = this.entry(name);
    const url = `${new URL(name, this.base).href}?sha256=${sha256}`;
    const kept = await this.cache?.match(url);
    if (kept) return new Uint8Array(await kept.arrayBuffer());
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${name} cannot be fetched: ${response.status}`);
    const data = new Uint8Array(await response.arrayBuffer());
    if (data.length !== bytes || (await hashOf(data)) !== sha256) throw new Error(`${name} is not what the manifest says`);
    await this.keep(url, name, data);
    return data;
  }

  private entry(name: string): { bytes: number; sha256: string } {
    const entry = this.manifest.files[name];
    if (!entry) throw new Error(`the model bundle has no file ${name}`);
    return entry;
  }

  /** Keep a file, and drop older ones of its name. A browser without space goes on without. */
  private async keep(url: string, name: string, data: Uint8Array<ArrayBuffer>): Promise<void> {
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

/** SHA-256 in hexadecimal digits; only pages over TLS, and those of this machine, can tell it. */
async function hashOf(data: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  if (!globalThis.crypto?.subtle) throw new Error('polyvox-web needs a page that is served over HTTPS, or by localhost');
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
