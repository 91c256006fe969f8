import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const SOURCES = ['index.html', 'package-lock.json', 'package.json', 'src', 'tsconfig.json', 'vite.config.js'];

/** A SHA-256 over names and contents of all sources, so that a stale build is noticed also where there is no npm. */
function sourcesHash() {
  const hash = createHash('sha256');
  for (const name of SOURCES.flatMap(filesBelow).sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(ROOT, name))).update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(name) {
  if (name.includes('.')) return [name];
  return readdirSync(join(ROOT, name)).flatMap((child) => filesBelow(`${name}/${child}`));
}

const noteSources = {
  name: 'note-sources',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'sources.sha256', source: `${sourcesHash()}\n` });
  },
};

// The page is served at `/` and at `/web`; its files lie below `web/assets`, which both addresses reach by one relative name.
export default defineConfig({
  base: './',
  publicDir: false,
  plugins: [noteSources],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: '../src/polyvox/api/dialects/studio/static',
    emptyOutDir: true,
    assetsDir: 'web/assets',
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
  },
  server: { proxy: { '^/(v1|dev|metrics|ready|health)': 'http://127.0.0.1:8880' } },
});
