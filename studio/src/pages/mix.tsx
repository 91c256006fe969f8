import { useState } from 'preact/hooks';
import { call, messageOf, saveFile } from '../api/client';
import { forgetLists, useChosenModel, useVoices, type Voice } from '../api/lists';
import { useSpeech } from '../audio/speech';
import { useAction } from '../components/action';
import { Button, IconButton, Slider, TextField } from '../components/controls';
import { Card, Empty, Failure, Loading, Notice, Page } from '../components/layout';
import { toast } from '../components/toasts';
import { Transcript } from '../components/transcript';
import { ModelPicker, VoicePicker } from '../components/voice_picker';
import { setPreferences, usePreferences, type Mix } from '../preferences';
import { href } from '../router';
import { sampleText } from '../samples';
import { useStore } from '../store';
import { goodPair } from '../voice_ranking';
import { expressionOf, percents, type Part } from './mix/parts';

const MOST_PARTS = 8;
const MOST_WEIGHT = 10;

export function MixPage() {
  const { models, model, error, isLoaded } = useChosenModel((each) => each.capabilities?.voice_mixing ?? false);
  const voices = useVoices(model);
  return (
    <Page title="Mix" lead="Blend voices into a new one. Move the sliders, listen, and keep what you like.">
      <Failure error={error ?? voices.error} />
      {!isLoaded && !error && <Loading what="models" />}
      {isLoaded && models.length === 0 && <Empty icon="mix">No model of this server mixes voices. Kokoro does: polyvox pull kokoro.</Empty>}
      {models.length > 0 && voices.value && <Mixer key={model} model={model} voices={voices.value.filter(({ available }) => available)} />}
      {models.length > 1 && <ModelPicker models={models} model={model} onModel={(next) => setPreferences({ model: next })} />}
      <SavedMixes />
    </Page>
  );
}

function Mixer({ model, voices }: { model: string; voices: Voice[] }) {
  const speech = useSpeech();
  const { error } = useStore(speech.state);
  const [parts, setParts] = useState<Part[]>(goodPair(voices).map(({ id }, index) => ({ voice: id, weight: 5 - 2 * index })));
  const [text, setText] = useState(sampleText('en', 'a blend'));
  const [name, setName] = useState('');
  const { mixes } = usePreferences();
  const keeping = useAction();
  const expression = expressionOf(parts);
  const shares = percents(parts.map(({ weight }) => weight));
  const next = voices.find(({ id }) => parts.every(({ voice }) => voice !== id)) ?? voices[0];
  const change = (at: number, changes: Partial<Part>) => setParts(parts.map((part, index) => (index === at ? { ...part, ...changes } : part)));
  const save = () => {
    setPreferences({ mixes: [...mixes.filter((mix) => mix.name !== name), { name: name.trim(), model, expression }] });
    toast(`${name.trim()} is kept in this browser, and is in every list of voices.`);
    setName('');
  };
  const keep = async () => {
    await call('v1/voices', { json: { name: name.trim(), mix: expression } });
    forgetLists();
    toast(`${name.trim()} is a voice of this server now: programs can name it too.`);
    setName('');
  };
  return (
    <Card title="Voices and their shares">
      <ul class="stack">
        {parts.map((part, index) => (
          <li key={index} class="mix-part">
            <VoicePicker label={`Voice ${index + 1}`} model={model} voice={part.voice} withDefault={false} withMixes={false} onVoice={(voice) => change(index, { voice })} />
            <Slider
              label={`Share of voice ${index + 1}`}
              min={0}
              max={MOST_WEIGHT}
              step={1}
              value={part.weight}
              text={`${shares[index]} %`}
              onInput={(weight) => change(index, { weight })}
            />
            <IconButton icon="trash" label={`Take voice ${index + 1} out`} disabled={parts.length <= 2} onClick={() => setParts(parts.filter((_, at) => at !== index))} />
          </li>
        ))}
      </ul>
      <div class="row">
        <Button icon="plus" disabled={parts.length >= MOST_PARTS} onClick={() => setParts([...parts, { voice: next?.id ?? '', weight: 2 }])}>
          Add a voice
        </Button>
        <code class="expression">{expression}</code>
      </div>
      <TextField label="Text to try it with" rows={2} value={text} onInput={setText} />
      <Failure error={error} />
      <Transcript speech={speech} />
      <div class="row">
        <Button kind="primary" icon="play" filled disabled={!expression || !text.trim()} onClick={() => void speech.start({ input: text, model, voice: expression, speed: 1 })}>
          Hear the mix
        </Button>
        <Button icon="download" disabled={!expression} onClick={() => void download(expression)}>
          Download as a voice file
        </Button>
      </div>
      <div class="row end">
        <TextField label="Name of the mix" value={name} onInput={setName} />
        <Button icon="check" disabled={!name.trim() || !expression} onClick={save}>
          Keep the mix
        </Button>
        <Button icon="voices" busy={keeping.busy} disabled={!name.trim() || !expression} onClick={() => void keeping.run(keep)}>
          Keep it on the server
        </Button>
      </div>
      <Failure error={keeping.error} />
    </Card>
  );
}

async function download(expression: string): Promise<void> {
  try {
    const response = await call('v1/audio/voices/combine', { json: expression });
    saveFile(await response.blob(), `${expression}.pt`);
  } catch (error) {
    toast(messageOf(error), 'bad');
  }
}

function SavedMixes() {
  const { mixes } = usePreferences();
  const remove = (gone: Mix) => setPreferences({ mixes: mixes.filter((mix) => mix !== gone) });
  if (mixes.length === 0) return null;
  return (
    <Card title="Your mixes">
      <Notice>They are kept in this browser. A program names one by its expression, as a voice.</Notice>
      <ul class="stack">
        {mixes.map((mix) => (
          <li key={mix.name} class="row spread">
            <span>
              <strong>{mix.name}</strong> <code class="soft expression">{mix.expression}</code>
            </span>
            <span class="row">
              <a class="button" href={href('speak', { model: mix.model, voice: mix.expression })}>
                Speak with {mix.name}
              </a>
              <IconButton icon="trash" label={`Delete ${mix.name}`} onClick={() => remove(mix)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
