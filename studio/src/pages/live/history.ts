/** The last minutes of scrapes and of their figures. */

import { Scrape } from './exposition';
import { figures, type Figures } from './figures';

const KEPT_MS = 5 * 60_000;
const WINDOW_MS = 60_000;

export interface History {
  scrapes: Scrape[];
  figures: Figures[];
}

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
