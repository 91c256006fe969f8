import { useState } from 'preact/hooks';
import { useChosenModel, useVoices } from '../api/lists';
import { useSpeech, type Speech } from '../audio/speech';
import { wordAt } from '../audio/words';
import { Button, Checkbox, TextField } from '../components/controls';
import { Card, Failure, Page } from '../components/layout';
import { Transcript } from '../components/transcript';
import { ModelPicker, VoicePicker } from '../components/voice_picker';
import { sampleText } from '../samples';
import { useStore } from '../store';
import { goodPair } from '../voice_ranking';

interface Side {
  model: string;
  voice: string;
}

const NAMES = ['A', 'B'] as const;

export function ComparePage() {
  const { models, model, error } = useChosenModel();
  const voices = useVoices(model);
  const speeches = [useSpeech(), useSpeech()] as const;
  const [sides, setSides] = useState<readonly [Side, Side] | null>(null);
  const [text, setText] = useState(sampleText('en', 'one of two'));
  const [isBlind, setBlind] = useState(false);
  const [isSwapped, setSwapped] = useState(false);
  const [first, second] = goodPair(voices.value ?? []);
  const shown = sides ?? ([{ model, voice: first?.id ?? '' }, { model, voice: second?.id ?? '' }] as const);
  const change = (at: number, side: Partial<Side>) => {
    speeches[at]!.stop();
    setSides(shown.map((each, index) => (index === at ? { ...each, ...side } : each)) as unknown as readonly [Side, Side]);
  };
  /** The other one goes on at the word where this one was. */
  const play = (at: number) => {
    const place = isBlind && isSwapped ? 1 - at : at;
    const [speech, other] = [speeches[place]!, speeches[1 - place]!];
    const { request, words, status } = speech.state.get();
    const word = other.state.get().status === 'playing' ? wordAt(other.state.get().words, other.time) : 0;
    if (request?.input !== text || status === 'failed') void speech.start({ input: text, speed: 1, ...shown[place]! });
    else speech.seek(words[Math.max(0, word)]?.start ?? 0);
  };
  const toggleBlind = (on: boolean) => {
    speeches.forEach((speech) => speech.pause());
    setSwapped(Math.random() < 0.5);
    setBlind(on);
  };
  return (
    <Page title="Compare" lead="The same text in two voices. While one speaks, press the other: it goes on at the same word.">
      <Failure error={error} />
      <Card title="Text">
        <TextField label="Text" hideLabel rows={3} value={text} onInput={setText} />
        <Checkbox label="Blind: do not show which is which" checked={isBlind} onChange={toggleBlind} />
      </Card>
      <div class="pair">
        {NAMES.map((name, at) => {
          const place = isBlind && isSwapped ? 1 - at : at;
          return (
            <Card key={name} title={isBlind ? `Voice ${at + 1}` : `Voice ${name}`}>
              {!isBlind && (
                <>
                  <ModelPicker models={models} model={shown[at]!.model || model} onModel={(next) => change(at, { model: next, voice: '' })} />
                  <VoicePicker model={shown[at]!.model || model} voice={shown[at]!.voice} onVoice={(voice) => change(at, { voice })} />
                </>
              )}
              <Player speech={speeches[place]!} name={isBlind ? String(at + 1) : name} onPlay={() => play(at)} />
            </Card>
          );
        })}
      </div>
    </Page>
  );
}

function Player({ speech, name, onPlay }: { speech: Speech; name: string; onPlay: () => void }) {
  const { status, error } = useStore(speech.state);
  const isOn = status === 'playing' || status === 'starting';
  return (
    <>
      <Failure error={error} />
      <div class="row">
        <Button kind="primary" icon="play" filled busy={status === 'starting'} onClick={onPlay}>
          Play {name}
        </Button>
        <Button icon="pause" disabled={!isOn} onClick={() => speech.pause()}>
          Pause {name}
        </Button>
      </div>
      <Transcript speech={speech} />
    </>
  );
}
