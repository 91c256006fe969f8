import { InferenceSession, Tensor, env } from 'onnxruntime-web/wasm';

export { Tensor };

/** Give ONNX Runtime its WebAssembly and its number of threads, once and before any graph is opened. */
export function configureRuntime(wasm: Uint8Array, threads: number): void {
  env.wasm.wasmBinary = wasm;
  env.wasm.numThreads = threads;
}

/** One ONNX graph. Runs of it follow one another. */
export class Graph {
  private constructor(private readonly session: InferenceSession) {}

  static async open(model: Uint8Array): Promise<Graph> {
    // Inputs differ in length at every call.
    return new Graph(await InferenceSession.create(model, { enableMemPattern: false, executionProviders: ['wasm'] }));
  }

  /** All outputs by name. */
  async run(inputs: Record<string, Tensor>): Promise<Record<string, Tensor>> {
    return await this.session.run(inputs);
  }

  async close(): Promise<void> {
    await this.session.release();
  }
}

export function floats(data: Float32Array, ...shape: number[]): Tensor {
  return new Tensor('float32', data, shape);
}

export function integers(values: readonly number[], ...shape: number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), shape);
}

export function floatsOf(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new TypeError('the graph gave no floats');
  return tensor.data;
}
