import { useEffect, useState } from 'preact/hooks';
import { useChosenModel, useVoices, type Voice } from '../api/lists';
import { outlineOf, type Outline } from '../audio/peaks';
import { useSpeech } from '../audio/speech';
import { Button, Checkbox, IconButton, Select, TextField } from '../components/controls';
import { Empty, Failure, Loading, Page } from '../components/layout';
import { ModelPicker } from '../components/voice_picker';
import { Waveform } from '../components/waveform';
import { languageName } from '../languages';
import { setPreferences, toggleFavourite, usePreferences } from '../preferences';
import { href } from '../router';
import { sampleText } from '../samples';
import { useStore } from '../store';

interface Filters {
  query: string;
  language: string;
  gender: string;
  onlyFavourites: boolean;
}

const ALL: Filters = { query: '', language: '', gender: '', onlyFavourites: false };

export function GalleryPage() {
  const { models, model, error } = useChosenModel();
  const { favourites } = usePreferences();
  const [filters, setFilters] = useState(ALL);
  const voices = useVoices(model);
  const listed = voices.value ?? [];
  const isLiked = (voice: Voice) => favourites.includes(`${model}/${voice.id}`);
  const found = listed.filter((voice) => matches(voice, filters) && (!filters.onlyFavourites || isLiked(voice)));
  const shown = [...found.filter(isLiked), ...found.filter((voice) => !isLiked(voice))];
  return (
    <Page title="Gallery" lead="Every voice of this server. Press play to hear one; a star keeps it at the top of every list.">
      <Failure error={error ?? voices.error} />
      <div class="filters">
        <ModelPicker models={models} model={model} onModel={(next) => setPreferences({ model: next })} />
        <TextField label="Find" type="search" value={filters.query} onInput={(query) => setFilters({ ...filters, query })} />
        <Select label="Language" value={filters.language} options={languageOptions(listed)} onChange={(language) => setFilters({ ...filters, language })} />
        <Select label="Gender" value={filters.gender} options={GENDERS} onChange={(gender) => setFilters({ ...filters, gender })} />
        <Checkbox label="Favourites only" checked={filters.onlyFavourites} onChange={(onlyFavourites) => setFilters({ ...filters, onlyFavourites })} />
      </div>
      {!voices.value && !voices.error && <Loading what="voices" />}
      <p class="hint" role="status">
        {voices.value && `${shown.length} of ${listed.length} voices`}
      </p>
      {voices.value && shown.length === 0 && <Empty icon="search">No voice is like that. Take a filter away.</Empty>}
      <ul class="grid">
        {shown.map((voice) => (
          <VoiceCard key={`${model}/${voice.id}`} model={model} voice={voice} liked={isLiked(voice)} />
        ))}
      </ul>
    </Page>
  );
}

const GENDERS = [
  { value: '', label: 'Any' },
  { value: 'female', label: 'Female' },
  { value: 'male', label: 'Male' },
];

function languageOptions(voices: Voice[]) {
  const tags = [...new Set(voices.map(({ language }) => language))].filter(Boolean);
  return [{ value: '', label: 'Any' }, ...tags.map((tag) => ({ value: tag, label: languageName(tag) }))];
}

function matches({ id, title, language, gender, description }: Voice, filters: Filters): boolean {
  const words = `${id} ${title} ${description} ${languageName(language)}`.toLowerCase();
  return (
    filters.query.toLowerCase().split(/\s+/).every((word) => words.includes(word)) &&
    (!filters.language || language === filters.language) &&
    (!filters.gender || gender === filters.gender)
  );
}

function VoiceCard({ model, voice, liked }: { model: string; voice: Voice; liked: boolean }) {
  const { id, title, language, gender, grade, description, available, reason } = voice;
  const name = title || id;
  return (
    <li class="card voice-card">
      <div class="row tight spread">
        <div>
          <h2>{name}</h2>
          <p class="hint">{id}</p>
        </div>
        <IconButton
          icon="star"
          filled={liked}
          label={liked ? `${name} is a favourite: take the star away` : `Make ${name} a favourite`}
          aria-pressed={liked}
          onClick={() => toggleFavourite(model, id)}
        />
      </div>
      <p class="row tags">
        <span class="tag">{languageName(language)}</span>
        {gender && <span class="tag">{gender}</span>}
        {grade && <span class="tag accent">Grade {grade}</span>}
      </p>
      {description && <p class="hint">{description}</p>}
      {available ? <Preview model={model} voice={voice} name={name} /> : <p class="hint">{reason}</p>}
    </li>
  );
}

function Preview({ model, voice, name }: { model: string; voice: Voice; name: string }) {
  const speech = useSpeech();
  const { status, isComplete, error } = useStore(speech.state);
  const [outline, setOutline] = useState<Outline | null>(null);
  useEffect(() => {
    const { file } = speech;
    if (file) outlineOf(file).then(setOutline, () => setOutline(null)); // a sound that cannot be drawn can still be heard
  }, [isComplete, speech]);
  const isOn = status === 'playing' || status === 'starting';
  const play = () => {
    if (status === 'idle' || status === 'failed') {
      void speech.start({ input: sampleText(voice.language, name), model, voice: voice.id, speed: 1 });
    } else speech.toggle();
  };
  return (
    <>
      <div class="row tight">
        <Button
          kind="quiet"
          class="only-icon round"
          icon={isOn ? 'pause' : 'play'}
          filled={!isOn}
          busy={status === 'starting'}
          aria-label={`${isOn ? 'Pause' : 'Play'} ${name}`}
          onClick={play}
        />
        {outline ? <Waveform outline={outline} speech={speech} height={40} /> : <div class="waveform empty-wave low" aria-hidden="true" />}
      </div>
      <Failure error={error} />
      <a class="forward" href={href('speak', { model, voice: voice.id })}>
        Speak with {name}
      </a>
    </>
  );
}
