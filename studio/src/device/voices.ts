/** Voices of the device, beside those of the server's models. */

/** Stands where a model's name does, for speech that is made on the user's device. */
export const DEVICE = 'this device';

const PART = /^\s*([\w-]+)(?:\((\d+(?:\.\d+)?)\))?\s*$/;

/** The shares of `af_heart(3)+bf_emma(1)` or of one voice; nothing where it is no such expression. */
export function sharesOf(expression: string): Record<string, number> {
  const parts = expression.split('+').map((part) => PART.exec(part));
  if (parts.some((part) => part === null)) return {};
  return Object.fromEntries(parts.map((part) => [part![1]!, Number(part![2] ?? 1)]));
}

/** Whether all voices of a mix are among these. */
export function isMixOf(expression: string, voices: readonly { id: string }[]): boolean {
  const parts = Object.keys(sharesOf(expression));
  return parts.length > 0 && parts.every((part) => voices.some(({ id }) => id === part));
}
