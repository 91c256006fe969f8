/** The cast of a dialogue: names, their voices, and the whole dialogue as a file. */
import { saveFile } from '../../api/client';
import { useAction } from '../../components/action';
import { Button, Field, IconButton, Select, TextField, type OptionGroup } from '../../components/controls';
import { Failure } from '../../components/layout';
import { without, type Role } from './cast';
import { draftOf, nextKey, type Draft } from './draft';

interface Props {
  draft: Draft;
  /** The voices to choose from; null while they are loaded. */
  voices: OptionGroup[] | null;
  onChange: (changes: Partial<Draft>) => void;
}

export function CastCard({ draft, voices, onChange }: Props) {
  const { cast } = draft;
  const action = useAction();
  const change = (role: Role, changes: Partial<Role>) => onChange({ cast: cast.map((old) => (old === role ? { ...old, ...changes } : old)) });
  const remove = (role: Role) => onChange({ cast: cast.filter((old) => old !== role), turns: without(draft.turns, role) });
  const add = () => onChange({ cast: [...cast, { key: nextKey(cast), name: `Speaker ${nextKey(cast)}`, voice: firstFree(voices, cast) }] });
  const load = (file: File | undefined) =>
    void action.run(async () => {
      const read = file && draftOf(parsed(await file.text()));
      if (!read) throw new Error('This file is no dialogue of the Studio. Save one here to see its form.');
      onChange(read);
    });
  return (
    <details class="card">
      <summary>Cast</summary>
      <div class="stack">
        <p class="hint">Give people names. A turn, or a line of the script, then names its speaker, and one choice here changes the voice of all of them.</p>
        {cast.map((role, at) => (
          <div key={role.key} class="role">
            <TextField label={`Name of speaker ${at + 1}`} value={role.name} onInput={(name) => change(role, { name })} />
            <Select
              label={`Voice of speaker ${at + 1}`}
              value={role.voice}
              options={role.voice ? [] : [{ value: '', label: 'Choose a voice' }]}
              groups={voices ?? []}
              onChange={(voice) => change(role, { voice })}
            />
            <IconButton icon="trash" label={`Remove speaker ${at + 1}`} onClick={() => remove(role)} />
          </div>
        ))}
        <div class="row">
          <Button icon="plus" onClick={add}>
            Add a speaker
          </Button>
          <Button icon="download" onClick={() => saveFile(new Blob([JSON.stringify(draft, null, 2)], { type: 'application/json' }), 'dialogue.json')}>
            Save cast and turns
          </Button>
        </div>
        <Field label="Open a saved dialogue">
          {(ids) => <input {...ids} type="file" accept=".json,application/json" onChange={(event) => load(event.currentTarget.files?.[0])} />}
        </Field>
        <Failure error={action.error} />
      </div>
    </details>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // said to the user as no dialogue
  }
}

/** The first voice that nobody of the cast has. */
function firstFree(voices: OptionGroup[] | null, cast: Role[]): string {
  const options = (voices ?? []).flatMap((group) => group.options).filter(({ disabled }) => !disabled);
  return (options.find(({ value }) => cast.every(({ voice }) => voice !== value)) ?? options[0])?.value ?? '';
}
