/** Pronunciation dictionaries: how words are said. */
import { useState } from 'preact/hooks';
import { useLoaded } from '../api/lists';
import { useAction } from '../components/action';
import { Button, Choice, Field, TextField } from '../components/controls';
import { Card, Empty, Failure, Loading, Page } from '../components/layout';
import { toast } from '../components/toasts';
import { importLexicon, listDictionaries, putDictionary } from './dictionary/calls';
import { DictionaryEditor } from './dictionary/editor';

export function DictionaryPage() {
  const dictionaries = useLoaded(listDictionaries, []);
  const [chosen, setChosen] = useState('');
  const [round, setRound] = useState(0);
  const list = dictionaries.value ?? [];
  const current = list.find(({ name }) => name === chosen) ?? list[0];
  const made = (name: string) => {
    setChosen(name);
    setRound(round + 1);
    dictionaries.reload();
  };
  return (
    <Page title="Dictionary" lead="Teach the server how names, abbreviations and foreign words are said.">
      <Failure error={dictionaries.error} />
      {!dictionaries.value && !dictionaries.error && <Loading what="your dictionaries" />}
      {dictionaries.value && (
        <Card title="Dictionaries">
          {current ? (
            <Choice
              label="Open"
              value={current.name}
              options={list.map(({ name, entries }) => ({ value: name, label: `${name} (${entries})` }))}
              onChange={setChosen}
            />
          ) : (
            <Empty icon="dictionary">There are none yet. Make the first one.</Empty>
          )}
          <NewDictionary names={list.map(({ name }) => name)} onMade={made} />
        </Card>
      )}
      {current && (
        <DictionaryEditor
          key={`${current.name} ${round}`}
          name={current.name}
          isShared={current.shared}
          onSaved={dictionaries.reload}
          onDeleted={dictionaries.reload}
        />
      )}
    </Page>
  );
}

function NewDictionary({ names, onMade }: { names: string[]; onMade: (name: string) => void }) {
  const [name, setName] = useState('');
  const [lexicon, setLexicon] = useState<File | null>(null);
  const [round, setRound] = useState(0);
  const action = useAction();
  const make = async () => {
    if (lexicon) await importLexicon(name.trim(), lexicon);
    else await putDictionary(name.trim(), { default: false, entries: [] });
    toast(`${name.trim()} is made.`);
    onMade(name.trim());
    setName('');
    setLexicon(null);
    setRound(round + 1);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (!name.trim()) action.fail('The dictionary needs a name.');
    else if (names.includes(name.trim()))
      action.fail('You have a dictionary of this name already. Choose another name.');
    else void action.run(make);
  };
  return (
    <form class="stack" aria-label="New dictionary" onSubmit={submit}>
      <div class="grid">
        <TextField
          label="Name of a new dictionary"
          hint="Letters a to z, figures, dots, dashes and underscores."
          value={name}
          onInput={setName}
        />
        <Field key={round} label="Import (optional)" hint="A W3C pronunciation lexicon (.pls).">
          {(ids) => (
            <input
              {...ids}
              type="file"
              accept=".pls,.xml,application/pls+xml"
              onChange={(event) => setLexicon(event.currentTarget.files?.[0] ?? null)}
            />
          )}
        </Field>
      </div>
      <Failure error={action.error} />
      <div class="row">
        <Button type="submit" icon="plus" busy={action.busy}>
          {lexicon ? 'Import' : 'Make'}
        </Button>
      </div>
    </form>
  );
}
