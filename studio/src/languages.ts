/** Names of languages for people. */
const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** `en-gb` is British English; a tag that nobody knows stays as it is. */
export function languageName(tag: string): string {
  if (!tag) return 'Any language';
  try {
    return NAMES.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
