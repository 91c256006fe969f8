/** A dialogue: turns in different voices, spoken as one. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { saveFile } from '../api/client';
import { useChosenModel, useVoices, type Loaded, type Voice } from '../api/lists';
import { AUDIO_FORMATS, CAPTION_FORMATS } from '../api/speech';
import { useAction } from '../components/action';
import { Button, Select, Slider, type OptionGroup } from '../components/controls';
import { Card, Failure, Page } from '../components/layout';
import { ModelPicker, voiceGroups } from '../components/voice_picker';
import { setPreferences, usePreferences } from '../preferences';
import { useStore } from '../store';
import { goodPair } from '../voice_ranking';
import { roleVoice, voiceOf } from './dialogue/cast';
import { CastCard } from './dialogue/cast_card';
import { nextKey, readDraft, writeDraft, type Draft } from './dialogue/draft';
import { moved, type Turn } from './dialogue/script';
import { ReplaceCard } from './dialogue/replace_card';
import { ScriptCard } from './dialogue/script_card';
import { useDialogueSpeech, type DialogueSpeech } from './dialogue/speech';
import { dialogueFile, type DialogueBody } from './dialogue/stream';
import { TurnRow } from './dialogue/turn_row';

const AUDIO = AUDIO_FORMATS.map((format) => ({ value: format, label: format.toUpperCase() }));
const FOLLOW_MS = 50;

export function DialoguePage() {
  const { models, model, error } = useChosenModel();
  const [draft, setDraft] = useState(readDraft);
  const speech = useDialogueSpeech();
  const seed = useRef(newSeed());
  const voices = useVoices(model);
  const { favourites, mixes } = usePreferences();
  const groups = voices.value && voiceGroups(voices.value, model, favourites, mixes);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  useEffect(() => writeDraft(draft), [draft]);
  const speak = () => {
    seed.current = newSeed();
    void speech.start(bodyOf(draft, model, seed.current));
  };
  return (
    <Page title="Dialogue" lead="Give every turn a voice, and hear them talk.">
      <Failure error={error} />
      <Card title="Settings">
        <div class="grid">
          <ModelPicker models={models} model={model} onModel={(next) => setPreferences({ model: next })} />
          <Slider
            label="Pause between turns"
            min={0}
            max={3}
            step={0.1}
            value={draft.pause}
            text={`${draft.pause.toFixed(1)} s`}
            onInput={(pause) => change({ pause })}
          />
        </div>
      </Card>
      <CastCard draft={draft} voices={groups} onChange={change} />
      <Turns speech={speech} voices={voices} groups={groups && [...castGroups(draft), ...groups]} turns={draft.turns} onChange={(turns) => change({ turns })} />
      <Controls speech={speech} canSpeak={!!voices.value} onSpeak={speak} />
      <Download body={() => bodyOf(draft, model, seed.current)} />
      <ReplaceCard turns={draft.turns} onChange={(turns) => change({ turns })} />
      <ScriptCard turns={draft.turns} cast={draft.cast} onChange={(turns) => change({ turns })} />
    </Page>
  );
}

interface TurnsProps {
  speech: DialogueSpeech;
  voices: Loaded<Voice[]>;
  groups: OptionGroup[] | null;
  turns: Turn[];
  onChange: (turns: Turn[]) => void;
}

function Turns({ speech, voices, groups, turns, onChange }: TurnsProps) {
  const spoken = useSpokenTurn(speech);
  const list = useRef<HTMLOListElement>(null);
  const add = () => {
    const voice = (turns.at(-2) ?? turns.at(-1))?.voice ?? '';
    onChange([...turns, { key: nextKey(turns), voice, text: '' }]);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('li:last-child textarea')?.focus());
  };
  useEffect(() => {
    const ready = goodPair(voices.value ?? []);
    if (ready.length) onChange(turns.map((turn, place) => withVoice(turn, ready[place % ready.length]!.id)));
  }, [voices.value]);
  return (
    <section class="stack" aria-labelledby="turns">
      <h2 id="turns">Turns</h2>
      <Failure error={voices.error} />
      <p class="hint">Alt with the arrow keys moves the turn that you are in.</p>
      <ol ref={list} class="turns">
        {turns.map((turn, index) => (
          <TurnRow
            key={turn.key}
            turn={turn}
            number={index + 1}
            isFirst={index === 0}
            isLast={index === turns.length - 1}
            isSpoken={spoken === index}
            voices={groups}
            onChange={(changes) => onChange(turns.map((old) => (old === turn ? { ...old, ...changes } : old)))}
            onMove={(by) => onChange(moved(turns, index, by))}
            onRemove={() => onChange(turns.filter((old) => old !== turn))}
          />
        ))}
      </ol>
      <p class="unseen" role="status">
        {spoken >= 0 && `Turn ${spoken + 1} is spoken.`}
      </p>
      <div class="row">
        <Button icon="plus" onClick={add}>
          Add a turn
        </Button>
      </div>
    </section>
  );
}

/** `canSpeak` once the voices are known: turns have none before. */
function Controls({ speech, canSpeak, onSpeak }: { speech: DialogueSpeech; canSpeak: boolean; onSpeak: () => void }) {
  const { status, error } = useStore(speech.state);
  const isOn = status === 'starting' || status === 'playing' || status === 'paused';
  return (
    <>
      <Failure error={error} />
      <div class="row">
        <Button kind="primary" icon="play" filled disabled={!canSpeak} onClick={onSpeak}>
          Speak
        </Button>
        {isOn && (
          <>
            <Button
              icon={status === 'paused' ? 'play' : 'pause'}
              disabled={status === 'starting'}
              onClick={() => speech.toggle()}
            >
              {status === 'paused' ? 'Go on' : 'Pause'}
            </Button>
            <Button icon="stop" onClick={() => speech.stop()}>
              Stop
            </Button>
          </>
        )}
      </div>
    </>
  );
}

/** The place of the turn that is heard, -1 where none is. */
function useSpokenTurn(speech: DialogueSpeech): number {
  const { status } = useStore(speech.state);
  const [turn, setTurn] = useState(-1);
  useEffect(() => {
    if (status !== 'playing') {
      if (status !== 'paused') setTurn(-1);
      return undefined;
    }
    const timer = setInterval(() => setTurn(speech.turn), FOLLOW_MS);
    return () => clearInterval(timer);
  }, [status, speech]);
  return turn;
}

/** The dialogue as a file: the take that was heard last, in any format. */
function Download({ body }: { body: () => DialogueBody }) {
  const [format, setFormat] = useState('mp3');
  const action = useAction();
  const download = async () => {
    const suffix = CAPTION_FORMATS.find(({ value }) => value === format)?.suffix ?? format;
    saveFile(await dialogueFile(body(), format), `dialogue.${suffix}`);
  };
  return (
    <Card title="Download">
      <div class="row">
        <Select
          label="Format"
          value={format}
          groups={[
            { label: 'Audio', options: AUDIO },
            { label: 'Captions', options: [...CAPTION_FORMATS] },
          ]}
          onChange={setFormat}
        />
        <Button icon="download" busy={action.busy} onClick={() => void action.run(download)}>
          Download the dialogue
        </Button>
      </div>
      <Failure error={action.error} />
    </Card>
  );
}

/** The cast, as speakers to choose for a turn. */
function castGroups({ cast }: Draft): OptionGroup[] {
  const options = cast.map((role) => ({ value: roleVoice(role), label: role.name }));
  return options.length ? [{ label: 'Cast', options }] : [];
}

function bodyOf({ pause, turns, cast }: Draft, model: string, seed: number): DialogueBody {
  return { ...(model && { model }), turns: turns.map(({ voice, text }) => ({ voice: voiceOf(voice, cast), text })), pause, seed };
}

function withVoice(turn: Turn, voice: string): Turn {
  return turn.voice ? turn : { ...turn, voice };
}

function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
