/** The name of a file from a text: its first words, without what a file system may refuse. */
const MOST = 40;

export function fileName(text: string, otherwise: string, suffix: string): string {
  const words = text
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, MOST)
    .trim()
    .replaceAll(' ', '-');
  return `${words || otherwise}.${suffix}`;
}
