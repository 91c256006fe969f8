/** The form that starts a book. */
import { useEffect, useState } from 'preact/hooks';
import { useChosenModel, useLoaded } from '../../api/lists';
import { useAction } from '../../components/action';
import { Button, Checkbox, Choice, Field, Slider, TextField } from '../../components/controls';
import { Card, Failure } from '../../components/layout';
import { toast } from '../../components/toasts';
import { ModelPicker, VoicePicker } from '../../components/voice_picker';
import { setPreferences, usePreferences } from '../../preferences';
import { listDictionaries } from '../dictionary/calls';
import { startJob, type NewJob } from './calls';
import { DropZone } from '../../components/drop_zone';

type Source = 'file' | 'text';

const SOURCES: readonly { value: Source; label: string }[] = [
  { value: 'file', label: 'A file' },
  { value: 'text', label: 'A text' },
];
const OUTPUTS = [
  { value: 'm4b', label: 'm4b, one audiobook with chapters' },
  { value: 'mp3', label: 'mp3, with chapters' },
  { value: 'opus', label: 'opus, with chapters' },
];
const CAPTIONS = [
  { value: 'srt', label: 'srt subtitles' },
  { value: 'vtt', label: 'vtt subtitles' },
];
const EMPTY: NewJob = {
  file: null,
  text: '',
  title: '',
  author: '',
  cover: null,
  model: '',
  voice: '',
  speed: 1,
  output: ['m4b'],
  chapter_files: '',
  captions: [],
  dictionaries: [],
};

export function NewJobCard({ onStarted }: { onStarted: () => void }) {
  const [source, setSource] = useState<Source>('file');
  const [job, setJob] = useState(EMPTY);
  const [round, setRound] = useState(0);
  const action = useAction();
  const change = (changes: Partial<NewJob>) => setJob((before) => ({ ...before, ...changes }));

  const start = async () => {
    const started = await startJob(source === 'file' ? { ...job, text: '' } : { ...job, file: null });
    toast(`${started.title || 'The book'} is queued.`);
    setJob(EMPTY);
    setRound(round + 1);
    onStarted();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const missing = source === 'file' ? !job.file : !job.text.trim();
    if (missing) action.fail(source === 'file' ? 'Choose a file, or drop one here.' : 'Write or paste a text.');
    else if (!job.output.length && !job.chapter_files) action.fail('Choose at least one file to make, such as m4b.');
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
        <Checkbox
          label="One mp3 for each chapter, too"
          checked={job.chapter_files !== ''}
          onChange={(on) => change({ chapter_files: on ? 'mp3' : '' })}
        />
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

/** Model and voice are those that the user has chosen elsewhere, until others are chosen here. */
function VoiceFields({ job, onChange }: { job: NewJob; onChange: (changes: Partial<NewJob>) => void }) {
  const { models, model } = useChosenModel();
  const { voices } = usePreferences();
  useEffect(() => onChange({ model, voice: voices[model] ?? '' }), [model, voices]);
  return (
    <>
      <ModelPicker models={models} model={model} onModel={(next) => setPreferences({ model: next })} />
      <VoicePicker model={model} voice={job.voice} onVoice={(voice) => onChange({ voice })} />
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
