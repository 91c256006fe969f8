/** What is heard, at the foot of every page: it stays while one moves on to another. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf, saveFile } from '../api/client';
import { clock } from '../audio/clock';
import { heard, type Sound } from '../audio/sound';
import { fileName } from '../file_name';
import { setPreferences, usePreferences } from '../preferences';
import { useStore } from '../store';
import { IconButton, Select } from './controls';
import { Icon } from './icon';
import { toast } from './toasts';

const FOLLOW_MS = 200;
const RATES = [0.75, 1, 1.25, 1.5, 2].map((rate) => ({ value: String(rate), label: `${rate}×` }));

export function PlayerBar() {
  const sound = useStore(heard);
  return sound && <Bar sound={sound} />;
}

function Bar({ sound }: { sound: Sound }) {
  const { status, isComplete } = useStore(sound.state);
  const { volume, playbackRate } = usePreferences();
  const { time, duration } = useClock(sound, status === 'playing');
  useEffect(() => sound.adjust(volume, playbackRate), [sound, volume, playbackRate]);
  if (status === 'idle' || status === 'failed') return null;
  const isOn = status === 'playing' || status === 'starting';
  const place = status === 'ended' ? duration : Math.min(time, duration);
  return (
    <section class="player" aria-label="Player">
      <IconButton class="round" icon={isOn ? 'pause' : 'play'} filled={!isOn} label={isOn ? 'Pause the player' : 'Play on'} disabled={status === 'starting'} onClick={() => sound.toggle()} />
      <p class="playing-title">{sound.title}</p>
      <div class="player-track">
        <span class="player-time">
          {clock(place)} / {clock(duration)}
          {!isComplete && '…'}
        </span>
        <input
          type="range"
          aria-label="Position"
          aria-valuetext={`${clock(place)} of ${clock(duration)}`}
          min={0}
          max={duration || 1}
          step={0.1}
          value={place}
          onInput={(event) => sound.seek(event.currentTarget.valueAsNumber)}
        />
      </div>
      <div class="player-volume">
        <Icon name="volume" />
        <input type="range" aria-label="Volume" min={0} max={1} step={0.05} value={volume} onInput={(event) => setPreferences({ volume: event.currentTarget.valueAsNumber })} />
      </div>
      {sound.hasRate && (
        <Select label="Playing speed" hideLabel value={String(playbackRate)} options={RATES} onChange={(rate) => setPreferences({ playbackRate: Number(rate) })} />
      )}
      <Save sound={sound} disabled={!isComplete} />
      <IconButton icon="close" label="Close the player" onClick={() => sound.stop()} />
    </section>
  );
}

function Save({ sound, disabled }: { sound: Sound; disabled: boolean }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      saveFile(await sound.saved(), fileName(sound.title, 'speech', sound.suffix));
    } catch (error) {
      toast(messageOf(error), 'bad');
    }
    setBusy(false);
  };
  return <IconButton icon="download" label={`Save what is heard as ${sound.suffix.toUpperCase()}`} busy={busy} disabled={disabled} onClick={() => void save()} />;
}

/** Where the listener is, some times a second while something is heard. */
function useClock(sound: Sound, isOn: boolean): { time: number; duration: number } {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), FOLLOW_MS);
    return () => clearInterval(timer);
  }, [sound, isOn]);
  return { time: sound.time, duration: sound.duration };
}
