import { useEffect, useState } from 'preact/hooks';
import { useChosenModel, useVoices, type Model } from '../api/lists';
import type { SpeechRequest } from '../api/speech';
import { outlineOf, type Outline } from '../audio/peaks';
import { type Status } from '../audio/sound';
import { Speech } from '../audio/speech';
import { Button, Slider, TextField } from '../components/controls';
import { Downloads } from '../components/downloads';
import { Card, Failure, Notice, Page } from '../components/layout';
import { Transcript } from '../components/transcript';
import { ModelPicker, VoicePicker } from '../components/voice_picker';
import { Waveform } from '../components/waveform';
import { device } from '../device/device';
import { DEVICE } from '../device/voices';
import { isSame, remember } from '../history';
import { languageName } from '../languages';
import { setPreferences, usePreferences, type Preferences } from '../preferences';
import { useRoute } from '../router';
import { useStore } from '../store';
import { HistoryCard } from './speak/history_card';
import { DeviceStatus, PlaceChoice } from './speak/place_choice';

const SAMPLE = 'The tide is out, and the boats lie on the sand. In an hour the water will lift them, one after another, without a sound.';
const SAYINGS: Record<Status, string> = {
  idle: '',
  starting: 'Starting…',
  playing: 'Speaking',
  paused: 'Paused',
  ended: 'Finished',
  failed: '',
};

/** One for as long as the Studio is open, so that its words are here when one comes back. */
const speech = new Speech();

export function SpeakPage() {
  const { text, voices, speed, place, instructions: wishes } = usePreferences();
  const { models, chosen, model: served, error } = useChosenModel();
  const isHere = place === 'device';
  const model = isHere ? DEVICE : served;
  const { parameters } = useRoute();
  useEffect(() => {
    const [asked, named] = [parameters.get('voice'), parameters.get('model')];
    if (asked && named) setPreferences({ place: 'server', model: named, voices: { ...voices, [named]: asked } });
  }, []);
  const voice = voices[model] ?? '';
  const input = text || SAMPLE;
  const told = !isHere && chosen?.capabilities?.instructions ? { instructions: wishes[model] ?? '' } : {};
  const speak = (request: SpeechRequest) => {
    remember(request);
    void speech.start({ ...request, ...(request.model === DEVICE ? {} : seedFor(chosen)) });
  };
  const speakThis = () => speak({ input, model, voice, speed, ...told });
  const speakAgain = (request: SpeechRequest) => {
    const where: Partial<Preferences> = request.model === DEVICE ? { place: 'device' } : { place: 'server', model: request.model };
    setPreferences({ ...where, text: request.input, speed: request.speed, voices: { ...voices, [request.model]: request.voice } });
    speak(request);
  };
  return (
    <Page title="Speak" lead="Type a text and hear it at once.">
      <Failure error={error} />
      <Card class="composer">
        <div class="writing" onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && speakThis()}>
          <TextField label="Text" hideLabel rows={6} value={text} placeholder={SAMPLE} onInput={(next) => setPreferences({ text: next })} />
          <div class="row spread">
            <TextFacts text={input} model={model} voice={voice} />
            <PlaceChoice />
          </div>
        </div>
        {isHere && <DeviceStatus />}
        <div class="options">
          {!isHere && <ModelPicker models={models} model={model} onModel={(next) => setPreferences({ model: next })} />}
          <VoicePicker model={model} voice={voice} onVoice={(next) => setPreferences({ voices: { ...voices, [model]: next } })} />
          <Slider label="Speed" min={0.5} max={2} step={0.05} value={speed} text={`${speed.toFixed(2)}×`} onInput={(next) => setPreferences({ speed: next })} />
        </div>
        {!isHere && chosen?.capabilities?.instructions && (
          <TextField
            label={chosen.capabilities.voice_design ? 'The voice, in words' : 'How to speak'}
            rows={2}
            value={wishes[model] ?? ''}
            placeholder={chosen.capabilities.voice_design ? 'An old man, warm and a little hoarse.' : 'Slowly, as if telling a secret.'}
            onInput={(next) => setPreferences({ instructions: { ...wishes, [model]: next } })}
          />
        )}
        <Controls speech={speech} request={{ input, model, voice, speed, ...told }} onSpeak={speakThis} />
      </Card>
      <Listening speech={speech} />
      <HistoryCard onSpeak={speakAgain} />
    </Page>
  );
}

/** How long the text is, and the language that it is read in. */
function TextFacts({ text, model, voice }: { text: string; model: string; voice: string }) {
  const { value } = useVoices(model);
  const language = value?.find(({ id, is_default }) => (voice ? id === voice : is_default))?.language;
  const count = [...text].length;
  return (
    <p class="hint facts">
      {count.toLocaleString('en')} {count === 1 ? 'character' : 'characters'}
      {language && ` · ${languageName(language)}`}
    </p>
  );
}

/** A model that samples gets a number, so that a download is the speech that was heard. */
function seedFor(model: Model | null): { seed?: number } {
  return model?.capabilities?.stochastic ? { seed: Math.floor(Math.random() * 2 ** 31) } : {};
}

function Controls({ speech, request, onSpeak }: { speech: Speech; request: SpeechRequest; onSpeak: () => void }) {
  const { status, request: spoken } = useStore(speech.state);
  const isOn = status === 'playing' || status === 'paused' || status === 'starting';
  const isUnchanged = spoken !== null && isSame(spoken, request);
  return (
    <div class="row">
      <Button kind="primary" icon="play" filled aria-keyshortcuts="Control+Enter" onClick={onSpeak}>
        {isUnchanged || !isOn ? 'Speak' : 'Speak the change'}
      </Button>
      {isOn && (
        <>
          <Button icon={status === 'paused' ? 'play' : 'pause'} disabled={status === 'starting'} onClick={() => speech.toggle()}>
            {status === 'paused' ? 'Go on' : 'Pause'}
          </Button>
          <Button icon="stop" onClick={() => speech.stop()}>
            Stop
          </Button>
        </>
      )}
      <span class="soft" role="status">
        {SAYINGS[status]}
      </span>
      <kbd class="hint">Ctrl + Enter speaks</kbd>
    </div>
  );
}

/** What is spoken: its words, its waveform, its files. */
function Listening({ speech }: { speech: Speech }) {
  const { status, request, isComplete, warning, error } = useStore(speech.state);
  const { error: notLoaded } = useStore(device); // shown where it is loaded
  const [outline, setOutline] = useState<Outline | null>(null);
  const voices = useVoices(request?.model ?? '');
  useEffect(() => {
    setOutline(null);
    const { file } = speech;
    if (file) outlineOf(file).then(setOutline, () => setOutline(null)); // a sound that cannot be drawn can still be heard
  }, [isComplete, speech]);
  if (status === 'idle') return null;
  const language = voices.value?.find(({ id }) => id === request?.voice)?.language;
  return (
    <>
      <Failure error={error === notLoaded ? null : error} />
      {warning && <Notice kind="warn">{warning}</Notice>}
      <Card title="Listen">
        <Transcript speech={speech} {...(language ? { lang: language } : {})} />
        {outline ? <Waveform outline={outline} speech={speech} /> : <div class="waveform empty-wave" aria-hidden="true" />}
        <div class="row spread">
          <p class="hint">Click a word to hear from there.</p>
          <Downloads speech={speech} />
        </div>
      </Card>
    </>
  );
}
