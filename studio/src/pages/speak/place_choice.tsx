/** Where speech is made: on the server, or on the user's own device. */
import { loadDevice, device, obstacle, type DeviceState } from '../../device/device';
import { Button, Choice } from '../../components/controls';
import { Failure, Notice, Progress } from '../../components/layout';
import { setPreferences, usePreferences, type Place } from '../../preferences';
import { useStore } from '../../store';

const PLACES: readonly { value: Place; label: string }[] = [
  { value: 'server', label: 'On the server' },
  { value: 'device', label: 'On this device' },
];

export function PlaceChoice() {
  const { place } = usePreferences();
  const choose = (next: Place) => {
    setPreferences({ place: next });
    if (next === 'device' && !obstacle()) begin();
  };
  return <Choice label="Where to speak" hideLabel value={place} options={PLACES} onChange={choose} />;
}

/** Load it; the store tells what comes of it. */
function begin(): void {
  loadDevice().catch(() => undefined);
}

/** How far the device is, or what it lacks and the remedy. */
export function DeviceStatus() {
  const state = useStore(device);
  const problem = obstacle();
  if (problem) return <Notice kind="warn">{problem}</Notice>;
  if (state.status === 'failed') {
    return (
      <>
        <Failure error={state.error} />
        <div class="row">
          <Button onClick={begin}>Try again</Button>
        </div>
      </>
    );
  }
  if (state.status === 'loading') return <Loaded state={state} />;
  return (
    <p class="hint" role="status">
      {state.status === 'ready' ? 'Ready: reads English. Your text stays here; voices that have spoken need no network any more.' : 'Reads English. It is loaded when you press Speak; your text stays here.'}
    </p>
  );
}

function Loaded({ state: { loaded, total } }: { state: DeviceState }) {
  const isOpening = total > 0 && loaded >= total;
  return (
    <div class="field">
      <Progress label="Loading the voice for this device" value={total > 0 && !isOpening ? loaded / total : null} />
      <p class="hint" role="status">
        {isOpening ? 'Opening the model…' : total > 0 ? `Loading ${megabytes(loaded)} of ${megabytes(total)} MB, kept for the next time…` : 'Asking the server…'}
      </p>
    </div>
  );
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
