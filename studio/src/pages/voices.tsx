/** Voices of the user's own: add, fit, hear, change and delete them. */
import { useRef, useState } from 'preact/hooks';
import { forgetLists, useLoaded } from '../api/lists';
import { usePolling } from '../api/polling';
import { Empty, Failure, Loading, Page } from '../components/layout';
import { AddVoice } from './voices/add';
import { listFits, listVoices } from './voices/calls';
import { FitCard } from './voices/fit_card';
import { getNeeds, isReady, needOf, type Needs } from './voices/needs';
import { NeedsCard } from './voices/needs_card';
import type { Fit } from './voices/types';
import { VoiceCard } from './voices/voice_card';

const FIT_POLL_MS = 1000;
const SHOWN_SECONDS = 3600;

export function VoicesPage() {
  const voices = useLoaded(listVoices, []);
  const fits = useFits(voices.reload);
  const needs = useNeeds(forgetLists);
  const list = useRef<HTMLHeadingElement>(null);
  const deleted = () => {
    list.current?.focus();
    voices.reload();
  };
  const clone = needOf(needs.value, 'clone');
  return (
    <Page title="My voices" lead="Make a voice of a short recording, and speak with it everywhere.">
      {needs.value && <NeedsCard needs={needs.value} onChanged={needs.reload} />}
      <AddVoice
        cloning={clone ? clone.ready : null}
        fitting={needs.value && isReady(needs.value, 'fit')}
        transcribing={isReady(needs.value, 'transcribe')}
        wordless={clone?.wordless ?? false}
        onAdded={voices.reload}
        onFit={fits.reload}
      />
      {fits.list.length > 0 && (
        <section class="stack" aria-labelledby="fits">
          <h2 id="fits">Fits</h2>
          <ul class="cards">
            {fits.list.map((fit) => (
              <FitCard key={fit.id} fit={fit} onChanged={fits.reload} />
            ))}
          </ul>
        </section>
      )}
      <section class="stack" aria-labelledby="registered">
        <h2 id="registered" ref={list} tabIndex={-1}>
          Registered voices
        </h2>
        <Failure error={voices.error} />
        {!voices.value && !voices.error && <Loading what="your voices" />}
        {voices.value?.length === 0 && <Empty icon="voices">There are none yet. Add the first one above.</Empty>}
        <ul class="stack">
          {voices.value?.map((voice) => (
            <VoiceCard
              key={voice.id}
              voice={voice}
              cloningModel={clone?.model ?? ''}
              wordless={clone?.wordless ?? false}
              onChanged={voices.reload}
              onDeleted={deleted}
              onFit={fits.reload}
            />
          ))}
        </ul>
      </section>
    </Page>
  );
}

/** The user's fits, asked for as long as one is not over; `onDone` when one has become a voice. */
function useFits(onDone: () => void): { list: Fit[]; reload: () => void } {
  const [list, setList] = useState<Fit[] | null>(null);
  const [watching, setWatching] = useState(true);
  const poll = async (signal: AbortSignal) => {
    const latest = await listFits(signal).catch(() => null);
    if (!latest) return; // the list of voices shows the same error
    const isDone = (fit: Fit) => fit.status === 'done';
    const known = (list ?? latest).filter(isDone).map((fit) => fit.id);
    setList(latest);
    setWatching(latest.some((fit) => fit.status === 'queued' || fit.status === 'running'));
    if (latest.some((fit) => isDone(fit) && !known.includes(fit.id))) onDone();
  };
  usePolling(poll, FIT_POLL_MS, watching);
  return { list: (list ?? []).filter(isRecent), reload: () => setWatching(true) };
}

/** What is missing to make voices, asked for as long as the server fetches some of it; `onFetched` when it has. */
function useNeeds(onFetched: () => void): { value: Needs | null; reload: () => void } {
  const [value, setValue] = useState<Needs | null>(null);
  const [watching, setWatching] = useState(true);
  const poll = async (signal: AbortSignal) => {
    const latest = await getNeeds(signal).catch(() => null);
    if (!latest) return; // the list of voices shows the same error
    setValue(latest);
    setWatching(latest.pull?.status === 'running');
    if (value?.pull?.status === 'running' && latest.pull?.status === 'done') onFetched();
  };
  usePolling(poll, FIT_POLL_MS, watching);
  return { value, reload: () => setWatching(true) };
}

/** Fits that are over are shown for a while; their voices stay. */
function isRecent({ status, created }: Fit): boolean {
  return status === 'queued' || status === 'running' || Date.now() / 1000 - created < SHOWN_SECONDS;
}
