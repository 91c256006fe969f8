/** The last minutes of scrapes and of their figures. */

import { Scrape, type Sample } from './exposition';
import { figures, type Figures } from './figures';

const KEPT_MS = 5 * 60_000;
const WINDOW_MS = 60_000;

export interface History {
  scrapes: Scrape[];
  figures: Figures[];
}

/** A snapshot of `/metrics/recent`: sums by metric and by the value of one label. */
export interface Snapshot {
  age: number;
  sums: Record<string, Record<string, number>>;
}

/** The labels that the sums of a snapshot are told apart by. */
const LABELS: Record<string, string> = {
  polyvox_refused_total: 'reason',
  polyvox_failures_total: 'kind',
  polyvox_time_to_first_audio_seconds_bucket: 'le',
};

export const EMPTY_HISTORY: History = { scrapes: [], figures: [] };

/** The history with one scrape more; rates are over the last minute, or since the first scrape. */
export function withScrape(history: History, scrape: Scrape): History {
  const scrapes = [...history.scrapes, scrape].filter((old) => scrape.at - old.at <= KEPT_MS);
  const kept = history.figures.filter((old) => scrape.at - old.at <= KEPT_MS);
  return { scrapes, figures: [...kept, figures(scrape, windowStart(scrapes))] };
}

/** The scrape that the rates of the last one are counted from. */
export function windowStart(scrapes: Scrape[]): Scrape {
  const last = scrapes.at(-1)!;
  return scrapes.find((old) => last.at - old.at <= WINDOW_MS) ?? last;
}

/** The history of a page that is only just opened: the snapshots that the server has kept. */
export function historyOf(snapshots: Snapshot[], now: number): History {
  return snapshots.map((each) => new Scrape(now - each.age * 1000, samplesOf(each))).reduce(withScrape, EMPTY_HISTORY);
}

function samplesOf({ sums }: Snapshot): Sample[] {
  return Object.entries(sums).flatMap(([name, byLabel]) =>
    Object.entries(byLabel).map(([key, value]) => {
      const label = LABELS[name];
      return { name, labels: label ? { [label]: key } : {}, value };
    }),
  );
}
