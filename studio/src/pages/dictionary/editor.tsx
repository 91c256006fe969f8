/** The entries of one dictionary. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import { useLoaded } from '../../api/lists';
import { useAction } from '../../components/action';
import { ConfirmButton } from '../../components/confirm';
import { Button, Checkbox, TextField } from '../../components/controls';
import { Card, Failure, Loading } from '../../components/layout';
import { toast } from '../../components/toasts';
import { deleteDictionary, getDictionary, putDictionary } from './calls';
import { EntryRow } from './entry_row';
import { TrialCard } from './trial';
import type { Dictionary, Entry } from './types';

/** A page of thousands of fields would be slow; the rest is found by searching. */
const MOST_SHOWN = 100;

interface Props {
  name: string;
  /** Whether it is everyone's: it can be tried, but not changed. */
  isShared: boolean;
  onSaved: () => void;
  onDeleted: () => void;
}

export function DictionaryEditor({ name, isShared, onSaved, onDeleted }: Props) {
  const loaded = useLoaded((signal) => getDictionary(name, signal), [name]);
  const [draft, setDraft] = useState<Dictionary | null>(null);
  const [isChanged, setChanged] = useState(false);
  const action = useAction();
  useEffect(() => setDraft(loaded.value), [loaded.value]);

  if (!draft) return loaded.error ? <Failure error={loaded.error} /> : <Loading what="the dictionary" />;
  const change = (changes: Partial<Dictionary>) => {
    setDraft({ ...draft, ...changes });
    setChanged(true);
  };
  const save = () =>
    action.run(async () => {
      await putDictionary(name, draft);
      setChanged(false);
      toast(`${name} is saved.`);
      onSaved();
    });
  return (
    <>
      <Card title={`Entries of ${name}`}>
        {isShared ? (
          <SharedEntries entries={draft.entries} />
        ) : (
          <>
            <Checkbox
              label="Use it for everything I have spoken"
              checked={draft.default}
              onChange={(on) => change({ default: on })}
            />
            <Entries
              entries={draft.entries}
              wrong={wrongEntry(action.error)}
              onChange={(entries) => change({ entries })}
            />
            <Failure error={action.error} />
            <div class="row">
              <Button kind="primary" icon="check" busy={action.busy} disabled={!isChanged} onClick={() => void save()}>
                Save
              </Button>
              <ConfirmButton
                label="Delete"
                question={`Delete ${name} and its entries?`}
                disabled={action.busy}
                onConfirm={() => void action.run(() => deleteDictionary(name).then(onDeleted))}
              />
              <span role="status" class="soft">
                {isChanged && 'Not saved yet.'}
              </span>
            </div>
          </>
        )}
      </Card>
      <TrialCard name={name} isChanged={isChanged} onSave={save} />
    </>
  );
}

function SharedEntries({ entries }: { entries: Entry[] }) {
  return (
    <>
      <p>The server shares this dictionary with everyone. Only its operator can change it.</p>
      <dl class="figures">
        {entries.slice(0, MOST_SHOWN).map(({ match, say, phonemes }, index) => (
          <div key={index}>
            <dt>{match}</dt>
            <dd>{say ?? phonemes}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

interface EntriesProps {
  entries: Entry[];
  /** The place of an entry that the server refused, -1 where it refused none. */
  wrong: number;
  onChange: (entries: Entry[]) => void;
}

function Entries({ entries, wrong, onChange }: EntriesProps) {
  const [search, setSearch] = useState('');
  const list = useRef<HTMLUListElement>(null);
  const sought = search.trim().toLowerCase();
  const found = entries
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry, index }) => index === wrong || !sought || textOf(entry).includes(sought));
  const shown = found.filter(({ index }, place) => place < MOST_SHOWN || index === wrong);
  const add = () => {
    setSearch('');
    onChange([{ kind: 'word', match: '' }, ...entries]);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('input')?.focus());
  };
  return (
    <>
      <div class="row">
        <Button icon="plus" onClick={add}>
          Add an entry
        </Button>
        {entries.length > 10 && <TextField label="Search" type="search" value={search} onInput={setSearch} />}
      </div>
      {shown.length < found.length && (
        <p class="hint">
          The first {shown.length} of {found.length} entries are shown. Search to find the others.
        </p>
      )}
      <ul ref={list} class="entries">
        {shown.map(({ entry, index }) => (
          <EntryRow
            key={entries.length - index}
            entry={entry}
            isWrong={index === wrong}
            onChange={(changed) => onChange(entries.map((old, place) => (place === index ? changed : old)))}
            onRemove={() => onChange(entries.filter((_, place) => place !== index))}
          />
        ))}
      </ul>
      {entries.length === 0 && <p>It has no entries yet.</p>}
    </>
  );
}

function textOf({ match, say, phonemes }: Entry): string {
  return `${match} ${say ?? ''} ${phonemes ?? ''}`.toLowerCase();
}

function wrongEntry(error: unknown): number {
  const found = error instanceof ApiError ? /entries\D*(\d+)/.exec(error.param ?? '') : null;
  return found ? Number(found[1]) : -1;
}
