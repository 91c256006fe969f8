/** The form that starts a book. */
import { useState } from 'preact/hooks';
import { useLoaded, useModels, useVoices } from '../../api/lists';
import { useAction } from '../../components/action';
import { Button, Checkbox, Choice, Field, Slider, TextField } from '../../components/controls';
import { Card, Failure } from '../../components/layout';
import { toast } from '../../components/toasts';
import { ModelSelect, VoiceSelect } from '../../components/voice_select';
import { preferences, usePreferences } from '../../preferences';
import { listDictionaries } from '../dictionary/calls';
import { startJob, type NewJob } from './calls';
import { DropZone } from './drop_zone';

type Source = 'file' | 'text';

const SOURCES: readonly { value: Source; label: string }[] = [
  { value: 'file', label: 'A file' },
  { value: 'text', label: 'A text' },
];
const OUTPUTS = [
  { value: 'm4b', label: 'm4b, one audiobook with chapters' },
  { value: 'mp3', label: 'mp3, with chapters' },
];
const CAPTIONS = [
  { value: 'srt', label: 'srt subtitles' },
  { value: 'vtt', label: 'vtt subtitles' },
];
const EMPTY = { file: null, text: '', title: '', author: '', cover: null, speed: 1, captions: [], dictionaries: [] };

function emptyJob(): NewJob {
  const { model, voices } = preferences.get();
  return { ...EMPTY, model, voice: voices[model] ?? '', output: ['m4b'] };
}

export function NewJobCard({ onStarted }: { onStarted: () => void }) {
  const [source, setSource] = useState<Source>('file');
  const [job, setJob] = useState(emptyJob);
  const [round, setRound] = useState(0);
  const action = useAction();
  const change = (changes: Partial<NewJob>) => setJob((before) => ({ ...before, ...changes }));

  const start = async () => {
    const started = await startJob(source === 'file' ? { ...job, text: '' } : { ...job, file: null });
    toast(`${started.title || 'The book'} is queued.`);
    setJob(emptyJob());
    setRound(round + 1);
    onStarted();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const missing = source === 'file' ? !job.file : !job.text.trim();
    if (missing) action.fail(source === 'file' ? 'Choose a file, or drop one here.' : 'Write or paste a text.');
    else if (!job.output.length) action.fail('Choose at least one file to make, such as m4b.');
    else void action.run(start);
  };

  return (
    <Card title="New book">
      <form key={round} class="stack" onSubmit={submit}>
        <Choice label="Make it from" value={source} options={SOURCES} onChange={setSource} />
        {source === 'file' ? (
          <DropZone
            label="Manuscript"
            hint="EPUB, Markdown, HTML or plain text. You can drop it here."
            accept=".epub,.md,.markdown,.txt,.html,.htm"
            file={job.file}
            onChange={(file) => change({ file })}
          />
        ) : (
          <TextField
            label="Text"
            hint="A line that begins with # is the title of a chapter."
            rows={8}
            value={job.text}
            onInput={(text) => change({ text })}
          />
        )}
        <div class="grid">
          <TextField
            label="Title"
            placeholder="that of the file"
            value={job.title}
            onInput={(title) => change({ title })}
          />
          <TextField
            label="Author"
            placeholder="that of the file"
            value={job.author}
            onInput={(author) => change({ author })}
          />
          <VoiceFields job={job} onChange={change} />
        </div>
        <Checks label="Files to make" options={OUTPUTS} values={job.output} onChange={(output) => change({ output })} />
        <Checks
          label="Subtitles"
          options={CAPTIONS}
          values={job.captions}
          onChange={(captions) => change({ captions })}
        />
        <DictionaryChecks values={job.dictionaries} onChange={(dictionaries) => change({ dictionaries })} />
        <Field label="Cover (optional)" hint="A JPEG or PNG picture.">
          {(ids) => (
            <input
              {...ids}
              type="file"
              accept="image/jpeg,image/png"
              onChange={(event) => change({ cover: event.currentTarget.files?.[0] ?? null })}
            />
          )}
        </Field>
        <Failure error={action.error} />
        <div class="row">
          <Button type="submit" kind="primary" icon="jobs" busy={action.busy}>
            Make the book
          </Button>
        </div>
      </form>
    </Card>
  );
}

function VoiceFields({ job, onChange }: { job: NewJob; onChange: (changes: Partial<NewJob>) => void }) {
  const models = useModels();
  const voices = useVoices(job.model);
  const { voices: chosen, mixes } = usePreferences();
  return (
    <>
      <ModelSelect
        models={models.value}
        value={job.model}
        onChange={(model) => onChange({ model, voice: chosen[model] ?? '' })}
      />
      <VoiceSelect
        label="Voice"
        voices={voices.value}
        mixes={mixes.filter(({ model }) => model === job.model)}
        value={job.voice}
        onChange={(voice) => onChange({ voice })}
      />
      <Slider
        label="Speed"
        min={0.5}
        max={2}
        step={0.05}
        value={job.speed}
        text={`${job.speed.toFixed(2)}×`}
        onInput={(speed) => onChange({ speed })}
      />
    </>
  );
}

interface ChecksProps {
  label: string;
  options: { value: string; label: string }[];
  values: string[];
  onChange: (values: string[]) => void;
}

function Checks({ label, options, values, onChange }: ChecksProps) {
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      <div class="row">
        {options.map((option) => (
          <Checkbox
            key={option.value}
            label={option.label}
            checked={values.includes(option.value)}
            onChange={(on) =>
              onChange(on ? [...values, option.value] : values.filter((value) => value !== option.value))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

/** The user's dictionaries; those that are used for everything need no tick. */
function DictionaryChecks({ values, onChange }: Pick<ChecksProps, 'values' | 'onChange'>) {
  const { value } = useLoaded(listDictionaries, []);
  const options = (value ?? []).filter((each) => !each.default).map(({ name }) => ({ value: name, label: name }));
  return options.length ? <Checks label="Dictionaries" options={options} values={values} onChange={onChange} /> : null;
}
