/** One entry of a dictionary. */
import { IconButton, Select, TextField } from '../../components/controls';
import type { Entry, EntryKind } from './types';

const KINDS: { value: EntryKind; label: string }[] = [
  { value: 'word', label: 'Word' },
  { value: 'phrase', label: 'Phrase' },
  { value: 'regex', label: 'Pattern' },
];
const WAYS = [
  { value: 'say', label: 'Spelled' },
  { value: 'phonemes', label: 'IPA' },
];

interface Props {
  entry: Entry;
  isWrong: boolean;
  onChange: (entry: Entry) => void;
  onRemove: () => void;
}

export function EntryRow({ entry, isWrong, onChange, onRemove }: Props) {
  const way = entry.phonemes === undefined ? 'say' : 'phonemes';
  const said = entry.phonemes ?? entry.say ?? '';
  const change = (changes: Partial<Entry>) => onChange({ ...entry, ...changes });
  return (
    <li class={`entry ${isWrong ? 'wrong' : ''}`}>
      <Select
        label="Kind"
        value={entry.kind}
        options={KINDS}
        onChange={(kind) => change({ kind: kind as EntryKind })}
      />
      <TextField label="Written" value={entry.match} onInput={(match) => change({ match })} />
      <TextField label="Said" value={said} onInput={(text) => onChange(withSaid(entry, way, text))} />
      <Select label="As" value={way} options={WAYS} onChange={(chosen) => onChange(withSaid(entry, chosen, said))} />
      <TextField
        label="Language"
        placeholder="any"
        value={entry.language ?? ''}
        onInput={(language) => onChange(withLanguage(entry, language.trim()))}
      />
      <IconButton icon="trash" label={`Remove the entry ${entry.match || 'without text'}`} onClick={onRemove} />
    </li>
  );
}

function withSaid(entry: Entry, way: string, text: string): Entry {
  const { say: _say, phonemes: _phonemes, alphabet: _alphabet, ...rest } = entry;
  return way === 'phonemes' ? { ...rest, phonemes: text } : { ...rest, say: text };
}

function withLanguage(entry: Entry, language: string): Entry {
  const { language: _language, ...rest } = entry;
  return language ? { ...rest, language } : rest;
}
