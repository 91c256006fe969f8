/** One turn of a dialogue: its voice, its text, and buttons that move or remove it. */
import { IconButton, Select, TextField, type Option, type OptionGroup } from '../../components/controls';
import type { Turn } from './script';

interface Props {
  turn: Turn;
  /** Its place, from 1. */
  number: number;
  isFirst: boolean;
  isLast: boolean;
  isSpoken: boolean;
  /** The voices to choose from; null while they are loaded. */
  voices: OptionGroup[] | null;
  onChange: (changes: Partial<Turn>) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

export function TurnRow({ turn, number, isFirst, isLast, isSpoken, voices, onChange, onMove, onRemove }: Props) {
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  return (
    <li class={`card turn ${isSpoken ? 'spoken' : ''}`} aria-label={`Turn ${number}`} onKeyDown={move}>
      <Select
        label={`Voice of turn ${number}`}
        value={turn.voice}
        options={unlisted(turn.voice, voices)}
        groups={voices ?? []}
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

/** A voice that the model does not have stays in its list, so that nothing changes unasked. */
function unlisted(voice: string, groups: OptionGroup[] | null): Option[] {
  if (!voice) return [{ value: '', label: 'Choose a voice' }];
  const isKnown = groups?.some(({ options }) => options.some(({ value }) => value === voice)) ?? false;
  return isKnown ? [] : [{ value: voice, label: groups ? `${voice} (not of this model)` : voice }];
}
