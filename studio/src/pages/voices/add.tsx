/** The form that makes a voice of a recording. */
import { useState } from 'preact/hooks';
import { useAction } from '../../components/action';
import { Button, Checkbox, Choice, TextField } from '../../components/controls';
import { Card, Failure, Notice } from '../../components/layout';
import { toast } from '../../components/toasts';
import { registerVoice, startFit, type NewVoice } from './calls';
import { QualityReport } from './quality_report';
import { RecordingInput, type Recording } from './recording_input';
import type { RegisteredVoice } from './types';

type Making = 'clone' | 'fit';

const MAKINGS: readonly { value: Making; label: string }[] = [
  { value: 'clone', label: 'Models that clone' },
  { value: 'fit', label: 'Kokoro' },
];
const EMPTY: NewVoice = { name: '', transcript: '', language: '', consent: false, consentNote: '' };

interface Props {
  /** Whether a model that clones voices is installed; null while that is not known. */
  cloning: boolean | null;
  /** Whether voices can be fitted; null while that is not known. */
  fitting: boolean | null;
  /** Whether the server writes down the words of a recording. */
  transcribing: boolean;
  /** Whether voices speak without the words of their recordings. */
  wordless: boolean;
  onAdded: () => void;
  onFit: () => void;
}

export function AddVoice({ cloning, fitting, transcribing, wordless, onAdded, onFit }: Props) {
  const [chosen, setMaking] = useState<Making | null>(null);
  const making = chosen ?? (cloning === false && fitting !== false ? 'fit' : 'clone');
  const [voice, setVoice] = useState(EMPTY);
  const [recording, setRecording] = useState<Recording | null>(null);
  const [added, setAdded] = useState<RegisteredVoice | null>(null);
  const [round, setRound] = useState(0);
  const action = useAction();
  const change = (changes: Partial<NewVoice>) => setVoice({ ...voice, ...changes });

  const send = async (chosen: Recording) => {
    setAdded(null);
    if (making === 'fit') {
      const fit = await startFit(voice, chosen);
      toast(`${fit.name} is being fitted.`);
      onFit();
    } else {
      setAdded(await registerVoice(voice, chosen));
      onAdded();
    }
    setVoice(EMPTY);
    setRecording(null);
    setRound(round + 1);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (!recording) action.fail('The recording is missing. Choose a file, record one, or write its web address.');
    else if (!voice.name.trim()) action.fail('The voice needs a name.');
    else if (making === 'fit' && !voice.consent)
      action.fail('A voice is fitted only if the speaker has agreed. Tick the box if so.');
    else void action.run(() => send(recording));
  };

  return (
    <Card title="Add a voice">
      <form class="stack" onSubmit={submit}>
        <RecordingInput key={round} recording={recording} onChange={setRecording} />
        <TextField label="Name" value={voice.name} onInput={(name) => change({ name })} />
        <Choice label="For" value={making} options={MAKINGS} onChange={setMaking} />
        <p class="hint">{makingWords(making, cloning, fitting)}</p>
        {making === 'clone' && (
          <TextField
            label="Words of the recording"
            hint={transcriptHint(transcribing, wordless)}
            rows={2}
            value={voice.transcript}
            onInput={(transcript) => change({ transcript })}
          />
        )}
        <Checkbox
          label="It is my own voice, or the speaker has agreed that it is copied"
          checked={voice.consent}
          onChange={(consent) => change({ consent })}
        />
        {voice.consent && (
          <TextField
            label="How and when they agreed (optional)"
            value={voice.consentNote}
            onInput={(consentNote) => change({ consentNote })}
          />
        )}
        <Failure error={action.error} />
        <div class="row">
          <Button type="submit" kind="primary" icon="plus" busy={action.busy}>
            {making === 'fit' ? 'Start fitting' : 'Add voice'}
          </Button>
        </div>
      </form>
      {added && <Added voice={added} />}
    </Card>
  );
}

function transcriptHint(transcribing: boolean, wordless: boolean): string {
  if (wordless) return 'Not needed: the voice speaks without them.';
  return transcribing
    ? 'Leave it empty to have the server write them down; it knows English only.'
    : 'Write them yourself: what writes them down is missing on this server.';
}

function makingWords(making: Making, cloning: boolean | null, fitting: boolean | null): string {
  if (making === 'fit' && fitting === false) return 'This server cannot fit voices yet; see above what is missing.';
  if (making === 'fit') return 'A Kokoro voice is fitted to the recording. That takes some minutes.';
  if (cloning === false) return 'No model that clones is installed. The voice is kept until there is one; see above.';
  return 'The voice is ready at once.';
}

function Added({ voice }: { voice: RegisteredVoice }) {
  return (
    <Notice kind="good">
      <p>
        <strong>{voice.name}</strong> was added.
      </p>
      <QualityReport quality={voice.quality} />
      {voice.warnings?.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </Notice>
  );
}
