/** The figures of the live page, worked out from two scrapes. */

import { Scrape } from './exposition';

export interface Gpu {
  index: string;
  name: string;
  used: number;
  total: number;
  /** Share of time it was busy, null where the driver does not tell. */
  busy: number | null;
}

export interface Figures {
  at: number;
  streams: number;
  limit: number | null;
  queue: number;
  expectedWait: number;
  /** Seconds to first audio of the requests within the window; null where there were none. */
  firstAudioMedian: number | null;
  firstAudio95: number | null;
  requestsPerMinute: number;
  refusalsPerMinute: number;
  errorsPerMinute: number;
  /** Seconds of audio made in one second. */
  audioRate: number;
  gpus: Gpu[];
  memory: number | null;
  connections: number;
}

/** Counts that have grown since another scrape, by the value of a label, the largest first. */
export function growth(now: Scrape, before: Scrape, metric: string, label: string): [string, number][] {
  const old = before.sums(metric, label);
  return [...now.sums(metric, label)]
    .map(([key, value]): [string, number] => [key, grown(value, old.get(key) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
}

/** A quantile of a histogram's observations between two scrapes, interpolated within its bucket. */
export function quantile(now: Scrape, before: Scrape, metric: string, share: number): number | null {
  const old = before.sums(`${metric}_bucket`, 'le');
  const buckets = [...now.sums(`${metric}_bucket`, 'le')]
    .map(([edge, count]) => ({
      edge: edge === '+Inf' ? Infinity : Number(edge),
      count: grown(count, old.get(edge) ?? 0),
    }))
    .sort((a, b) => a.edge - b.edge);
  const total = buckets.at(-1)?.count ?? 0;
  if (!total) return null;
  const rank = share * total;
  let edge = 0;
  let below = 0;
  for (const bucket of buckets) {
    if (bucket.count >= rank) {
      if (bucket.edge === Infinity) return edge;
      return edge + ((bucket.edge - edge) * (rank - below)) / Math.max(1e-9, bucket.count - below);
    }
    edge = bucket.edge;
    below = bucket.count;
  }
  return edge;
}

/** All figures of a scrape; what is a rate is one since the scrape before. */
export function figures(now: Scrape, before: Scrape): Figures {
  const minutes = Math.max(1e-3, (now.at - before.at) / 60_000);
  const since = (metric: string) => grown(now.sum(metric) ?? 0, before.sum(metric) ?? 0);
  return {
    at: now.at,
    streams: now.sum('polyvox_active_sessions') ?? 0,
    limit: now.sum('polyvox_session_limit'),
    queue: now.sum('polyvox_queue_depth') ?? 0,
    expectedWait: now.sum('polyvox_expected_wait_seconds') ?? 0,
    firstAudioMedian: quantile(now, before, 'polyvox_time_to_first_audio_seconds', 0.5),
    firstAudio95: quantile(now, before, 'polyvox_time_to_first_audio_seconds', 0.95),
    requestsPerMinute: since('polyvox_requests_total') / minutes,
    refusalsPerMinute: since('polyvox_refused_total') / minutes,
    errorsPerMinute: since('polyvox_failures_total') / minutes,
    audioRate: since('polyvox_audio_seconds_total') / (minutes * 60),
    gpus: gpusOf(now),
    memory: now.sum('process_resident_memory_bytes'),
    connections: (now.sum('polyvox_open_connections') ?? 0) + (now.sum('polyvox_open_sockets') ?? 0),
  };
}

function gpusOf(scrape: Scrape): Gpu[] {
  const total = scrape.sums('polyvox_gpu_memory_total_bytes', 'gpu');
  const busy = scrape.sums('polyvox_gpu_utilization_ratio', 'gpu');
  return scrape.samples('polyvox_gpu_memory_used_bytes').map(({ labels: { gpu = '', name = '' }, value }) => ({
    index: gpu,
    name,
    used: value,
    total: total.get(gpu) ?? 0,
    busy: busy.get(gpu) ?? null,
  }));
}

/** How far a counter has come; one that fell was started anew. */
function grown(now: number, before: number): number {
  return now >= before ? now - before : now;
}
