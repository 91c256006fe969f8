/** One turn of a dialogue: its voice, its text, and buttons that move or remove it. */
import type { Voice } from '../../api/lists';
import { IconButton, TextField } from '../../components/controls';
import { VoiceSelect } from '../../components/voice_select';
import type { Mix } from '../../preferences';
import type { Turn } from './script';

interface Props {
  turn: Turn;
  /** Its place, from 1. */
  number: number;
  isFirst: boolean;
  isLast: boolean;
  isSpoken: boolean;
  voices: Voice[] | null;
  mixes: Mix[];
  onChange: (changes: Partial<Turn>) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

export function TurnRow({ turn, number, isFirst, isLast, isSpoken, voices, mixes, onChange, onMove, onRemove }: Props) {
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  return (
    <li class={`card turn ${isSpoken ? 'spoken' : ''}`} aria-label={`Turn ${number}`} onKeyDown={move}>
      <VoiceSelect
        label={`Voice of turn ${number}`}
        voices={voices}
        mixes={mixes}
        value={turn.voice}
        onChange={(voice) => onChange({ voice })}
      />
      <TextField label={`Text of turn ${number}`} rows={2} value={turn.text} onInput={(text) => onChange({ text })} />
      <div class="row tight">
        <IconButton icon="up" label={`Move turn ${number} up`} disabled={isFirst} onClick={() => onMove(-1)} />
        <IconButton icon="down" label={`Move turn ${number} down`} disabled={isLast} onClick={() => onMove(1)} />
        <IconButton icon="trash" label={`Remove turn ${number}`} disabled={isFirst && isLast} onClick={onRemove} />
      </div>
    </li>
  );
}
