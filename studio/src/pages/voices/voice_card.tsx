/** One registered voice: hear it, change it, fit it, delete it. */
import { useState } from 'preact/hooks';
import { call } from '../../api/client';
import { useAction } from '../../components/action';
import { Clip } from '../../components/clip';
import { ConfirmButton } from '../../components/confirm';
import { Button, TextField } from '../../components/controls';
import { Icon } from '../../components/icon';
import { Failure, Notice } from '../../components/layout';
import { href } from '../../router';
import { changeVoice, deleteVoice, recordingOf, startFit } from './calls';
import { QualityReport } from './quality_report';
import type { RegisteredVoice } from './types';

const TRIAL_TEXT = 'Hello. This is how I sound when I read a sentence aloud.';

interface Props {
  voice: RegisteredVoice;
  /** The model that clones voices; empty where none is installed. */
  cloningModel: string;
  /** Whether that model needs no words of the recording. */
  wordless: boolean;
  onChanged: () => void;
  onDeleted: () => void;
  onFit: () => void;
}

export function VoiceCard({ voice, cloningModel, wordless, onChanged, onDeleted, onFit }: Props) {
  const [clip, setClip] = useState<{ data: Blob; label: string } | null>(null);
  const [editing, setEditing] = useState(false);
  const action = useAction();
  const model = voice.quality.fitted?.model ?? cloningModel;
  const play = (label: string, load: () => Promise<Blob>) =>
    void action.run(async () => setClip({ data: await load(), label: `${voice.name}, ${label}` }));

  return (
    <li class="card stack">
      <h3>{voice.name}</h3>
      <p class="soft">{described(voice)}</p>
      {!wordless && missingWords(voice) && <Notice kind="warn">{missingWords(voice)}</Notice>}
      <div class="row">
        {model && (
          <>
            <Button icon="play" disabled={action.busy} onClick={() => play('sample', () => sampleOf(voice, model))}>
              Hear a sample
            </Button>
            <a class="button" href={href('speak', { model, voice: voice.id })}>
              <Icon name="speak" />
              <span>Speak with it</span>
            </a>
          </>
        )}
        {voice.yours && (
          <>
            <Button icon="play" disabled={action.busy} onClick={() => play('recording', () => recordingOf(voice.id))}>
              Recording
            </Button>
            <Button icon="edit" aria-expanded={editing} onClick={() => setEditing(!editing)}>
              Edit
            </Button>
            {!voice.quality.fitted && voice.consent && (
              <Button
                icon="voices"
                disabled={action.busy}
                onClick={() => void action.run(() => fit(voice).then(onFit))}
              >
                Fit for Kokoro
              </Button>
            )}
            <ConfirmButton
              label="Delete"
              question={`Delete ${voice.name} and its recording?`}
              disabled={action.busy}
              onConfirm={() => void action.run(() => deleteVoice(voice.id).then(onDeleted))}
            />
          </>
        )}
      </div>
      {clip && <Clip {...clip} autoplay />}
      {editing && <EditVoice voice={voice} onDone={() => (setEditing(false), onChanged())} />}
      <Failure error={action.error} />
      <details>
        <summary>Quality of the recording</summary>
        <QualityReport quality={voice.quality} />
      </details>
    </li>
  );
}

async function sampleOf(voice: RegisteredVoice, model: string): Promise<Blob> {
  return (await call('v1/audio/speech', { json: { model, voice: voice.id, input: TRIAL_TEXT } })).blob();
}

/** Fit the same recording for Kokoro, as a voice of another name. */
async function fit(voice: RegisteredVoice): Promise<void> {
  const recording = { blob: await recordingOf(voice.id), name: 'recording.wav' };
  await startFit(
    {
      name: `${voice.name} (Kokoro)`,
      transcript: voice.transcript,
      language: voice.language ?? '',
      consent: voice.consent,
      consentNote: voice.consent_note,
    },
    recording,
  );
}

function described(voice: RegisteredVoice): string {
  const parts = [
    `${voice.duration.toFixed(1)} s`,
    voice.language,
    voice.quality.fitted && `fitted for ${voice.quality.fitted.model}`,
    !voice.yours && 'shared by the server',
  ];
  return parts.filter(Boolean).join(' · ');
}

function missingWords(voice: RegisteredVoice): string {
  if (voice.transcript || voice.quality.fitted) return '';
  if (voice.transcription === 'pending') return 'The words of the recording are being written down.';
  return 'The words of the recording are missing. Write them under Edit, so that models can clone the voice.';
}

function EditVoice({ voice, onDone }: { voice: RegisteredVoice; onDone: () => void }) {
  const [name, setName] = useState(voice.name);
  const [transcript, setTranscript] = useState(voice.transcript);
  const action = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run(() => changeVoice(voice.id, { name, transcript }).then(onDone));
  };
  return (
    <form class="stack" aria-label={`Edit ${voice.name}`} onSubmit={submit}>
      <TextField label="New name" value={name} onInput={setName} />
      <TextField label="Its words" rows={2} value={transcript} onInput={setTranscript} />
      <Failure error={action.error} />
      <div class="row">
        <Button type="submit" kind="primary" busy={action.busy}>
          Save
        </Button>
      </div>
    </form>
  );
}
