/** Save what is spoken: audio in any format, captions. */
import { useState } from 'preact/hooks';
import { messageOf, saveFile } from '../api/client';
import { AUDIO_FORMATS, CAPTION_FORMATS, speechFile } from '../api/speech';
import type { Speech } from '../audio/speech';
import { fileName } from '../file_name';
import { useStore } from '../store';
import { Button, Select } from './controls';
import { toast } from './toasts';

const AUDIO = AUDIO_FORMATS.map((format) => ({ value: format, label: format.toUpperCase(), suffix: format }));
const GROUPS = [
  { label: 'Audio', options: AUDIO },
  { label: 'Captions', options: [...CAPTION_FORMATS] },
];
const HERE = [{ label: 'Audio', options: AUDIO.filter(({ value }) => value === 'wav') }];
const FILES = [...AUDIO, ...CAPTION_FORMATS];

export function Downloads({ speech }: { speech: Speech }) {
  const { request, isComplete } = useStore(speech.state);
  const [wanted, setWanted] = useState<string>('mp3');
  const format = speech.isHere ? 'wav' : wanted;
  const [busy, setBusy] = useState(false);
  const save = async () => {
    if (!request) return;
    setBusy(true);
    try {
      const file = (format === speech.suffix && speech.file) || (await speechFile(request, format));
      saveFile(file, fileName(request.input, 'speech', FILES.find(({ value }) => value === format)!.suffix));
    } catch (error) {
      toast(messageOf(error), 'bad');
    }
    setBusy(false);
  };
  return (
    <div class="row tight downloads">
      <Select
        label="Save as"
        hideLabel
        value={format}
        groups={speech.isHere ? HERE : GROUPS}
        onChange={setWanted}
      />
      <Button icon="download" busy={busy} disabled={!request || (speech.isHere && !isComplete)} onClick={save}>
        Download
      </Button>
    </div>
  );
}
