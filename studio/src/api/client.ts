/** Calls to this server, with the key that the browser keeps. */
import { apiKey } from '../preferences';

/** A refusal of the server, with its own sentence about the remedy. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly param: string | null,
    readonly retryAfter: number | null,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export interface Call extends Omit<RequestInit, 'body'> {
  /** Sent as JSON. */
  json?: unknown;
  body?: BodyInit;
}

/** Call a path such as `v1/models`; an `ApiError` where the server refuses or cannot be reached. */
export async function call(path: string, { json, ...init }: Call = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = apiKey.get();
  if (key && !headers.has('Authorization')) headers.set('Authorization', `Bearer ${key}`);
  if (json !== undefined) headers.set('Content-Type', 'application/json');
  const body = json === undefined ? init.body : JSON.stringify(json);
  const method = init.method ?? (body === undefined ? 'GET' : 'POST');
  let response: Response;
  try {
    response = await fetch(address(path), { ...init, method, headers, body: body ?? null });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError('The server does not answer. Check that it runs, then try again.', 0, 'unreachable', null, null);
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

export async function getJson<T>(path: string, init: Call = {}): Promise<T> {
  return (await (await call(path, init)).json()) as T;
}

/** The address of a path of this server, also where a proxy serves it below a path of its own. */
export function address(path: string): string {
  return new URL(path.replace(/^\//, ''), document.baseURI).href;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The sentence to show for whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** JSON objects of a body that holds one a line, as they arrive. */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(broken);
      const lines = (rest + (value ?? '')).split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) if (line.trim()) yield JSON.parse(line) as T;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function broken(error: unknown): never {
  if (isAbort(error)) throw error;
  throw new ApiError('The server broke the answer off. Try again; its log has the cause.', 0, 'broken', null, null);
}

/** Save a file under a name. */
export function saveFile(data: Blob, name: string): void {
  const url = URL.createObjectURL(data);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function refusal(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as { error?: ErrorFields } | null;
  const { message, code, param } = body?.error ?? {};
  const after = Number(response.headers.get('Retry-After'));
  return new ApiError(
    message ?? `The server answered ${response.status} ${response.statusText}.`.replace(' .', '.'),
    response.status,
    code ?? '',
    param ?? null,
    Number.isFinite(after) && after > 0 ? after : null,
  );
}

interface ErrorFields {
  message?: string;
  code?: string;
  param?: string | null;
}
