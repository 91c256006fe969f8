/** Prometheus' text format, as `/metrics` answers it. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Record<string, string> = { n: '\n' };

/** The samples of a whole scrape; comments and lines that are no samples are left out. */
export function parseExposition(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const found = line.startsWith('#') ? null : LINE.exec(line);
    if (found) samples.push({ name: found[1]!, labels: labelsOf(found[2] ?? ''), value: numberOf(found[3]!) });
  }
  return samples;
}

function labelsOf(written: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name, value] of written.matchAll(LABEL)) {
    labels[name!] = value!.replace(/\\(.)/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped);
  }
  return labels;
}

function numberOf(written: string): number {
  if (written === '+Inf') return Infinity;
  return written === '-Inf' ? -Infinity : Number(written);
}

/** One scrape of the server, with the time it was made in milliseconds. */
export class Scrape {
  private readonly byName = new Map<string, Sample[]>();

  constructor(
    readonly at: number,
    text: string | Sample[],
  ) {
    for (const sample of typeof text === 'string' ? parseExposition(text) : text) {
      const known = this.byName.get(sample.name);
      if (known) known.push(sample);
      else this.byName.set(sample.name, [sample]);
    }
  }

  samples(name: string): Sample[] {
    return this.byName.get(name) ?? [];
  }

  /** The sum over all labels; null where the server has no such metric. */
  sum(name: string): number | null {
    const found = this.samples(name);
    return found.length ? found.reduce((total, sample) => total + sample.value, 0) : null;
  }

  /** The sums by the value of one label. */
  sums(name: string, label: string): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.samples(name)) {
      const key = labels[label] ?? '';
      sums.set(key, (sums.get(key) ?? 0) + value);
    }
    return sums;
  }
}
