/** A model and one of its voices, a mix of the user's among them. */
import { useVoices, type Model, type Voice } from '../api/lists';
import { DEVICE, isMixOf } from '../device/voices';
import { groupBy } from '../group_by';
import { languageName } from '../languages';
import { usePreferences, type Mix } from '../preferences';
import { Select, type OptionGroup } from './controls';

interface ModelPickerProps {
  model: string;
  onModel: (model: string) => void;
  models: readonly Model[];
}

export function ModelPicker({ model, onModel, models }: ModelPickerProps) {
  const options = models.map(({ id }) => ({ value: id, label: id }));
  return <Select label="Model" value={model} options={options} disabled={options.length === 0} onChange={onModel} />;
}

interface VoicePickerProps {
  model: string;
  voice: string;
  onVoice: (voice: string) => void;
  label?: string;
  /** Whether an empty choice, the model's default voice, is offered. */
  withDefault?: boolean;
  withMixes?: boolean;
}

export function VoicePicker({ model, voice, onVoice, label = 'Voice', withDefault = true, withMixes = true }: VoicePickerProps) {
  const { value } = useVoices(model);
  const { favourites, mixes } = usePreferences();
  const groups = voiceGroups(value ?? [], model, favourites, withMixes ? mixes : []);
  const names = groups.flatMap((group) => group.options.map((each) => each.value));
  const first = withDefault ? [{ value: '', label: defaultLabel(value ?? []) }] : [];
  const others = voice && value && !names.includes(voice) ? [{ value: voice, label: voice }] : [];
  return (
    <Select label={label} value={voice} options={[...first, ...others]} groups={groups} disabled={!value} onChange={onVoice} />
  );
}

/** Mixes and favourites first, then the voices by their language. */
export function voiceGroups(voices: Voice[], model: string, favourites: string[], mixes: Mix[]): OptionGroup[] {
  const own = mixes.filter((mix) => mix.model === model || (model === DEVICE && isMixOf(mix.expression, voices))).map((mix) => ({ value: mix.expression, label: mix.name }));
  const isLiked = (voice: Voice) => favourites.includes(`${model}/${voice.id}`);
  const liked = voices.filter(isLiked).map(voiceOption);
  const rest = groupBy(
    voices.filter((voice) => !isLiked(voice)),
    (voice) => languageName(voice.language),
  );
  return [
    { label: 'Your mixes', options: own },
    { label: 'Favourites', options: liked },
    ...[...rest].map(([language, group]) => ({ label: language, options: group.map(voiceOption) })),
  ].filter((group) => group.options.length > 0);
}

function defaultLabel(voices: Voice[]): string {
  const voice = voices.find(({ is_default }) => is_default);
  return voice ? `Default: ${nameOf(voice)}` : 'Default voice';
}

function voiceOption(voice: Voice) {
  const { id, gender, grade, available } = voice;
  return { value: id, label: [nameOf(voice), gender, grade && `grade ${grade}`].filter(Boolean).join(', '), disabled: !available };
}

function nameOf({ id, title }: Voice): string {
  return title && title !== id ? `${title} (${id})` : id;
}
