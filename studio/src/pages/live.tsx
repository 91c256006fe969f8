/** What the server does right now, for those who run it. */
import { useState } from 'preact/hooks';
import { call, getJson } from '../api/client';
import { usePolling } from '../api/polling';
import { Card, Failure, Loading, Page } from '../components/layout';
import { Scrape } from './live/exposition';
import { growth, type Figures } from './live/figures';
import { historyOf, windowStart, withScrape, type History, type Snapshot } from './live/history';
import { LineChart } from './live/line_chart';

const POLL_MS = 2000;
const GIB = 2 ** 30;

const count = (value: number) => String(Math.round(value));
const perMinute = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} / min`;
const seconds = (value: number) => (value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`);
const percent = (value: number) => `${Math.round(value * 100)} %`;
const gigabytes = (value: number) => `${(value / GIB).toFixed(1)} GiB`;
const times = (value: number) => `${value.toFixed(1)}× real time`;

export function LivePage() {
  const [history, setHistory] = useState<History | null>(null);
  const [error, setError] = useState<unknown>(null);
  const poll = async (signal: AbortSignal) => {
    try {
      const past = history ?? (await keptHistory(signal));
      const text = await (await call('metrics', { signal })).text();
      setHistory(withScrape(past, new Scrape(Date.now(), text)));
      setError(null);
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    }
  };
  usePolling(poll, POLL_MS);
  return (
    <Page title="Live" lead="What this server does right now. Rates and first audio are those of the last minute.">
      <Failure error={error} />
      {history ? <Charts history={history} /> : !error && <Loading what="the server's figures" />}
    </Page>
  );
}

/** The last minutes before the page was opened. */
async function keptHistory(signal: AbortSignal): Promise<History> {
  const { data } = await getJson<{ data: Snapshot[] }>('metrics/recent', { signal });
  return historyOf(data, Date.now());
}

function Charts({ history }: { history: History }) {
  const { figures } = history;
  const now = figures.at(-1)!;
  const at = figures.map((each) => each.at);
  const line = (label: string, read: (each: Figures) => number | null) => ({ label, values: figures.map(read) });
  return (
    <>
      <div class="cards graphs">
        <LineChart
          title="Streams"
          times={at}
          lines={[line('being spoken', (each) => each.streams), line('waiting', (each) => each.queue)]}
          format={count}
          least={4}
        />
        <LineChart
          title="First audio"
          times={at}
          lines={[line('p50', (each) => each.firstAudioMedian), line('p95', (each) => each.firstAudio95)]}
          format={seconds}
          least={0.1}
        />
        <LineChart
          title="Requests"
          times={at}
          lines={[
            line('all', (each) => each.requestsPerMinute),
            line('refused', (each) => each.refusalsPerMinute),
            line('failed', (each) => each.errorsPerMinute),
          ]}
          format={perMinute}
          least={10}
        />
        <LineChart
          title="Speech made"
          times={at}
          lines={[line('audio', (each) => each.audioRate)]}
          format={times}
          least={1}
        />
        {now.gpus.map((gpu, index) => (
          <LineChart
            key={gpu.index}
            title={`GPU ${gpu.index}: ${gpu.name}`}
            times={at}
            lines={[
              line('busy', (each) => each.gpus[index]?.busy ?? null),
              line('memory', (each) => share(each.gpus[index])),
            ]}
            format={percent}
            least={1}
          />
        ))}
      </div>
      <NowTable now={now} />
      <Problems history={history} />
    </>
  );
}

function share(gpu: { used: number; total: number } | undefined): number | null {
  return gpu?.total ? gpu.used / gpu.total : null;
}

function NowTable({ now }: { now: Figures }) {
  const rows: [string, string][] = [
    ['Streams that may be spoken at once', now.limit === null ? 'unknown' : count(now.limit)],
    ['Wait that a new request can expect', seconds(now.expectedWait)],
    ['Open connections', count(now.connections)],
    ...now.gpus.map(({ index, used, total }): [string, string] => [
      `Memory of GPU ${index}`,
      `${gigabytes(used)} of ${gigabytes(total)}`,
    ]),
  ];
  if (!now.gpus.length) rows.push(['GPU', 'none']);
  if (now.memory !== null) rows.push(['Memory of the server', gigabytes(now.memory)]);
  return (
    <Card title="Now">
      <dl class="figures">
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** Refusals and errors of the last minute, and of all time, by their cause. */
function Problems({ history }: { history: History }) {
  const now = history.scrapes.at(-1)!;
  const before = windowStart(history.scrapes);
  const causes = [
    { title: 'Refused', metric: 'polyvox_refused_total', label: 'reason' },
    { title: 'Failed', metric: 'polyvox_failures_total', label: 'kind' },
  ];
  const rows = causes.flatMap(({ title, metric, label }) => {
    const recent = new Map(growth(now, before, metric, label));
    return [...now.sums(metric, label)]
      .filter(([, total]) => total > 0)
      .map(([cause, total]) => ({ name: `${title}: ${cause}`, recent: recent.get(cause) ?? 0, total }));
  });
  return (
    <Card title="Refusals and errors">
      {rows.length === 0 ? (
        <p>There were none since the server has started.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of refusals and errors">
          <table>
            <thead>
              <tr>
                <th scope="col">Cause</th>
                <th scope="col">Last minute</th>
                <th scope="col">Since the start</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, recent, total }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{count(recent)}</td>
                  <td>{count(total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
