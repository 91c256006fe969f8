/** Choose a model, and a voice of it. */
import { useMemo } from 'preact/hooks';
import type { Model, Voice } from '../api/lists';
import type { Mix } from '../preferences';
import { Select, type OptionGroup } from './controls';

interface ModelProps {
  models: Model[] | null;
  value: string;
  onChange: (model: string) => void;
}

/** The models that can speak; the empty value is the server's default. */
export function ModelSelect({ models, value, onChange }: ModelProps) {
  const options = (models ?? []).filter(({ available }) => available).map(({ id }) => ({ value: id, label: id }));
  return (
    <Select label="Model" value={value} options={[{ value: '', label: 'Default' }, ...options]} onChange={onChange} />
  );
}

interface VoiceProps {
  label: string;
  voices: Voice[] | null;
  mixes?: Mix[];
  value: string;
  onChange: (voice: string) => void;
}

/** The voices by language. A voice that the model does not have stays in the list, so that nothing changes unasked. */
export function VoiceSelect({ label, voices, mixes = [], value, onChange }: VoiceProps) {
  const groups = useMemo(() => grouped(voices ?? [], mixes), [voices, mixes]);
  const known = groups.some(({ options }) => options.some((option) => option.value === value));
  const missing = value
    ? { value, label: voices ? `${value} (not of this model)` : value }
    : { value, label: 'Choose a voice' };
  return <Select label={label} value={value} options={known ? [] : [missing]} groups={groups} onChange={onChange} />;
}

function grouped(voices: Voice[], mixes: Mix[]): OptionGroup[] {
  const groups = new Map<string, OptionGroup>();
  for (const { id, title, language, available } of voices) {
    const group = groups.get(language) ?? { label: language || 'Other voices', options: [] };
    group.options.push({ value: id, label: title || id, disabled: !available });
    groups.set(language, group);
  }
  const mixed = mixes.map(({ name, expression }) => ({ value: expression, label: name }));
  return [...groups.values(), ...(mixed.length ? [{ label: 'Your mixes', options: mixed }] : [])];
}
