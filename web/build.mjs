// Builds `dist`: the page's module, the worker with ONNX Runtime in it, the player's worklet, and the declarations.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = new URL('.', import.meta.url);
const path = (name) => fileURLToPath(new URL(name, ROOT));
const runtime = path('node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm');
const wasm = readFileSync(runtime);
const sha256 = createHash('sha256').update(wasm).digest('hex');
const runtimeFile = `ort-${sha256.slice(0, 12)}.wasm`;

rmSync(path('dist'), { recursive: true, force: true });
mkdirSync(path('dist'));
execFileSync(process.execPath, [path('node_modules/typescript/bin/tsc'), '--emitDeclarationOnly'], {
  cwd: path('.'),
  stdio: 'inherit',
});
await build({
  absWorkingDir: path('.'),
  entryPoints: ['src/index.ts', 'src/worker.ts', 'src/player_worklet.ts'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  define: { RUNTIME: JSON.stringify({ file: runtimeFile, bytes: wasm.length, sha256 }) },
  // Its own copy of the glue: threads then start from the worker's file.
  alias: { 'onnxruntime-web/wasm': path('node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs') },
  external: ['node:*', 'module', 'worker_threads'],
  logLevel: 'warning',
});
copyFileSync(runtime, path(`dist/${runtimeFile}`));
