/** A dialogue: turns in different voices, spoken as one. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, saveFile } from '../api/client';
import { useModels, useVoices } from '../api/lists';
import { useAction } from '../components/action';
import { Button, Select, Slider } from '../components/controls';
import { Card, Failure, Page } from '../components/layout';
import { ModelSelect } from '../components/voice_select';
import { usePreferences } from '../preferences';
import { nextKey, readDraft, writeDraft, type Draft } from './dialogue/draft';
import { moved, type Turn } from './dialogue/script';
import { ScriptCard } from './dialogue/script_card';
import { useDialogueSpeaker } from './dialogue/speaker';
import type { DialogueBody } from './dialogue/stream';
import { TurnRow } from './dialogue/turn_row';

const FORMATS = ['mp3', 'wav', 'flac', 'opus', 'aac', 'srt', 'vtt'];

export function DialoguePage() {
  const [draft, setDraft] = useState(readDraft);
  const models = useModels();
  const voices = useVoices(draft.model);
  const mixes = usePreferences().mixes.filter(({ model }) => model === draft.model);
  const speaker = useDialogueSpeaker();
  const seed = useRef(newSeed());
  const list = useRef<HTMLOListElement>(null);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const changeTurn = (index: number, changes: Partial<Turn>) =>
    change({ turns: draft.turns.map((turn, place) => (place === index ? { ...turn, ...changes } : turn)) });
  const add = () => {
    const before = draft.turns.at(-2) ?? draft.turns.at(-1);
    change({ turns: [...draft.turns, { key: nextKey(draft.turns), voice: before?.voice ?? '', text: '' }] });
  };

  useEffect(() => writeDraft(draft), [draft]);
  useEffect(() => {
    const ready = (voices.value ?? []).filter(({ available }) => available);
    if (ready.length)
      change({
        turns: draft.turns.map((turn, place) => withVoice(turn, ready[place % Math.min(2, ready.length)]!.id)),
      });
  }, [voices.value]);
  const count = useRef(draft.turns.length);
  useEffect(() => {
    if (draft.turns.length > count.current) list.current?.querySelector<HTMLElement>('li:last-child textarea')?.focus();
    count.current = draft.turns.length;
  }, [draft.turns.length]);

  const speak = () => {
    seed.current = newSeed();
    speaker.speak(bodyOf(draft, seed.current));
  };
  return (
    <Page title="Dialogue" lead="Give every turn a voice, and hear them talk.">
      <Failure error={voices.error} />
      <Card title="Settings">
        <div class="grid">
          <ModelSelect models={models.value} value={draft.model} onChange={(model) => change({ model })} />
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
      <section class="stack" aria-labelledby="turns">
        <h2 id="turns">Turns</h2>
        <p class="hint">Alt with the arrow keys moves the turn that you are in.</p>
        <ol ref={list} class="turns">
          {draft.turns.map((turn, index) => (
            <TurnRow
              key={turn.key}
              turn={turn}
              number={index + 1}
              isFirst={index === 0}
              isLast={index === draft.turns.length - 1}
              isSpoken={speaker.turn === index}
              voices={voices.value}
              mixes={mixes}
              onChange={(changes) => changeTurn(index, changes)}
              onMove={(by) => change({ turns: moved(draft.turns, index, by) })}
              onRemove={() => change({ turns: draft.turns.filter((_, place) => place !== index) })}
            />
          ))}
        </ol>
        <div class="row">
          <Button icon="plus" onClick={add}>
            Add a turn
          </Button>
          {speaker.action.busy ? (
            <Button kind="primary" icon="stop" onClick={speaker.stop}>
              Stop
            </Button>
          ) : (
            <Button kind="primary" icon="play" onClick={speak}>
              Speak
            </Button>
          )}
        </div>
        <Failure error={speaker.action.error} />
        <audio
          ref={speaker.audio}
          class="clip"
          controls
          hidden={!speaker.hasAudio}
          aria-label="The dialogue"
          onTimeUpdate={speaker.onTime}
        />
        <p class="unseen" role="status">
          {speaker.turn >= 0 && `Turn ${speaker.turn + 1} is spoken.`}
        </p>
      </section>
      <Download body={() => bodyOf(draft, seed.current)} />
      <ScriptCard turns={draft.turns} onChange={(turns) => change({ turns })} />
    </Page>
  );
}

/** The dialogue as a file: the take that was heard last, in any format. */
function Download({ body }: { body: () => DialogueBody }) {
  const [format, setFormat] = useState('mp3');
  const action = useAction();
  const download = async () => {
    const json = { ...body(), response_format: format, stream: false };
    saveFile(await (await call('v1/audio/dialogue', { json })).blob(), `dialogue.${format}`);
  };
  return (
    <Card title="Download">
      <div class="row">
        <Select
          label="Format"
          value={format}
          options={FORMATS.map((name) => ({ value: name, label: name }))}
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

function bodyOf({ model, pause, turns }: Draft, seed: number): DialogueBody {
  return { ...(model && { model }), turns: turns.map(({ voice, text }) => ({ voice, text })), pause, seed };
}

function withVoice(turn: Turn, voice: string): Turn {
  return turn.voice ? turn : { ...turn, voice };
}

function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
