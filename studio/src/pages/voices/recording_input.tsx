/** Choose the recording of a voice: a file, the microphone, or a web address. */
import { useState } from 'preact/hooks';
import { Clip } from '../../components/clip';
import { Choice, Field, TextField } from '../../components/controls';
import { Microphone } from './microphone';

/** What is sent: a file, or an address that the server fetches. */
export type Recording = { blob: Blob; name: string } | { url: string };

type Source = 'file' | 'microphone' | 'url';

const SOURCES: readonly { value: Source; label: string }[] = [
  { value: 'file', label: 'A file' },
  { value: 'microphone', label: 'Microphone' },
  { value: 'url', label: 'Web address' },
];
const SUFFIXES = '.wav,.mp3,.flac,.ogg,.opus,.webm,.m4a,.aac';

interface Props {
  recording: Recording | null;
  onChange: (recording: Recording | null) => void;
}

export function RecordingInput({ recording, onChange }: Props) {
  const [source, setSource] = useState<Source>('file');
  const choose = (chosen: Source) => {
    setSource(chosen);
    onChange(null);
  };
  return (
    <>
      <Choice label="Recording from" value={source} options={SOURCES} onChange={choose} />
      {source === 'file' && <FileInput onChange={onChange} />}
      {source === 'microphone' && (
        <Microphone onRecorded={(blob) => onChange({ blob, name: `microphone.${suffixOf(blob)}` })} />
      )}
      {source === 'url' && (
        <TextField
          label="Address of the audio file"
          hint="The server fetches it, if its setting allow_fetch is on."
          type="url"
          placeholder="https://"
          value={recording && 'url' in recording ? recording.url : ''}
          onInput={(url) => onChange(url.trim() ? { url: url.trim() } : null)}
        />
      )}
      {recording && 'blob' in recording && <Clip data={recording.blob} label="Your recording" />}
    </>
  );
}

function FileInput({ onChange }: { onChange: Props['onChange'] }) {
  return (
    <Field
      label="Audio file"
      hint="1 to 30 seconds of one person speaking, as wav, mp3, flac, ogg, opus, webm, m4a or aac."
    >
      {(ids) => (
        <input
          {...ids}
          type="file"
          accept={`audio/*,${SUFFIXES}`}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            onChange(file ? { blob: file, name: file.name } : null);
          }}
        />
      )}
    </Field>
  );
}

function suffixOf(blob: Blob): string {
  if (blob.type.includes('mp4')) return 'm4a';
  return blob.type.includes('ogg') ? 'ogg' : 'webm';
}
