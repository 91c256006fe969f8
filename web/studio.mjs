// Puts the built package where the server has it for the Studio: the modules, and ONNX Runtime's WebAssembly compressed.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const SOURCES = ['build.mjs', 'package-lock.json', 'src', 'studio.mjs', 'tsconfig.json'];
const target = process.argv[2] ?? path('../src/polyvox/api/dialects/studio/device');

/** SHA-256 over names and contents of the sources, so that a stale build is noticed also where there is no npm. */
function sourcesHash() {
  const hash = createHash('sha256');
  for (const name of SOURCES.flatMap(filesBelow).sort()) {
    hash.update(`${name}\0`).update(readFileSync(path(name))).update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(name) {
  return name.includes('.') ? [name] : readdirSync(path(name)).flatMap((child) => filesBelow(`${name}/${child}`));
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const name of ['index.js', 'worker.js']) copyFileSync(path(`dist/${name}`), `${target}/${name}`);
const runtime = readdirSync(path('dist')).find((name) => name.endsWith('.wasm'));
writeFileSync(`${target}/${runtime}.gz`, gzipSync(readFileSync(path(`dist/${runtime}`)), { level: 9 }));
writeFileSync(`${target}/sources.sha256`, `${sourcesHash()}\n`);
