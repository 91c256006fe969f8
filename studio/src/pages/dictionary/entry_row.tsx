/** One entry of a dictionary. */
import { IconButton, Select, TextField } from '../../components/controls';
import type { Entry, EntryKind } from './types';

const KINDS: { value: EntryKind; label: string }[] = [
  { value: 'word', label: 'Word' },
  { value: 'phrase', label: 'Phrase' },
  { value: 'regex', label: 'Pattern' },
];
const CASES = [
  { value: '', label: 'Auto' },
  { value: 'any', label: 'Any' },
  { value: 'exact', label: 'As written' },
];

interface Props {
  entry: Entry;
  isWrong: boolean;
  onChange: (entry: Entry) => void;
  onRemove: () => void;
}

export function EntryRow({ entry, isWrong, onChange, onRemove }: Props) {
  const set = (name: keyof Entry, value: string) => onChange(withField(entry, name, value));
  return (
    <li class={`entry ${isWrong ? 'wrong' : ''}`}>
      <Select label="Kind" value={entry.kind} options={KINDS} onChange={(kind) => set('kind', kind)} />
      <TextField label="Written" value={entry.match} onInput={(match) => set('match', match)} />
      <TextField label="Said" value={entry.say ?? ''} onInput={(say) => set('say', say)} />
      <TextField label="Or in IPA" value={entry.phonemes ?? ''} onInput={(phonemes) => set('phonemes', phonemes)} />
      <TextField
        label="Language"
        placeholder="any"
        value={entry.language ?? ''}
        onInput={(language) => set('language', language.trim())}
      />
      <Select label="Capitals" value={entry.case ?? ''} options={CASES} onChange={(rule) => set('case', rule)} />
      <IconButton icon="trash" label={`Remove the entry ${entry.match || 'without text'}`} onClick={onRemove} />
    </li>
  );
}

/** The entry with one field changed; an optional one that is empty is left out. */
function withField(entry: Entry, name: keyof Entry, value: string): Entry {
  const { [name]: _old, ...rest } = entry;
  const isNeeded = name === 'kind' || name === 'match';
  return { ...rest, ...((value || isNeeded) && { [name]: value }) } as Entry;
}
