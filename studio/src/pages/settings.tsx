import { useState } from 'preact/hooks';
import { useChosenModel, useLoaded } from '../api/lists';
import { ApiError, call, getJson } from '../api/client';
import { useAction } from '../components/action';
import { Button, Checkbox, Choice, TextField } from '../components/controls';
import { Card, Failure, Notice, Page } from '../components/layout';
import { toast } from '../components/toasts';
import { ModelPicker, VoicePicker } from '../components/voice_picker';
import { apiKey, isKeyOnDevice, keepKey, setPreferences, usePreferences, type Theme } from '../preferences';
import { useStore } from '../store';

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export function SettingsPage() {
  const { theme } = usePreferences();
  return (
    <Page title="Settings" lead="They are kept in this browser and are yours alone.">
      <KeyCard />
      <Card title="Look">
        <Choice label="Theme" value={theme} options={THEMES} onChange={(next) => setPreferences({ theme: next })} />
      </Card>
      <VoiceCard />
      <ServerCard />
    </Page>
  );
}

function KeyCard() {
  const kept = useStore(apiKey);
  const [key, setKey] = useState('');
  const [onDevice, setOnDevice] = useState(isKeyOnDevice);
  const action = useAction();
  const save = async () => {
    await tryKey(key.trim());
    keepKey(key.trim(), onDevice);
    setKey('');
    toast('The server takes the key, and it is kept.');
  };
  return (
    <Card title="Key">
      <p class="soft">
        {kept ? 'A key is kept and sent with every request to this server, and to nothing else.' : 'A server that asks for a key gets it from here.'}
      </p>
      <form class="stack" onSubmit={(event) => (event.preventDefault(), void action.run(save))}>
        <TextField label={kept ? 'Another key' : 'Key'} type="password" value={key} onInput={setKey} />
        <Checkbox label="Keep it on this device; else until this tab is closed" checked={onDevice} onChange={setOnDevice} />
        <Failure error={action.error} />
        <div class="row">
          <Button kind="primary" type="submit" icon="key" busy={action.busy} disabled={!key.trim()}>
            Keep the key
          </Button>
          {kept && (
            <Button kind="danger" icon="trash" onClick={() => (keepKey('', false), toast('The key is forgotten.', 'info'))}>
              Forget the key
            </Button>
          )}
        </div>
      </form>
    </Card>
  );
}

/** Ask the server for something small with a key; one that it does not know is not worth keeping. */
async function tryKey(key: string): Promise<void> {
  try {
    await call('v1/models', { headers: { Authorization: `Bearer ${key}` } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw new Error('The server does not know this key. Check that all of it was copied.');
    throw error;
  }
}

function VoiceCard() {
  const { voices } = usePreferences();
  const { models, model, error } = useChosenModel();
  return (
    <Card title="Default voice">
      <Failure error={error} />
      <div class="options plain">
        <ModelPicker models={models} model={model} onModel={(next) => setPreferences({ model: next })} />
        <VoicePicker model={model} voice={voices[model] ?? ''} onVoice={(voice) => setPreferences({ voices: { ...voices, [model]: voice } })} />
      </div>
    </Card>
  );
}

function ServerCard() {
  const { value, error } = useLoaded((signal) => getJson<{ version: string }>('v1', { signal }), []);
  return (
    <Card title="Server">
      <Failure error={error} />
      {value && <p class="soft">Polyvox {value.version}</p>}
      <p>
        <a href="docs">The API of this server</a>
      </p>
      <Notice>The page talks to this server only. Nothing on it comes from anywhere else.</Notice>
    </Card>
  );
}
