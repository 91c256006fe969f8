/** Try a dictionary: what it changes in a text, and how that sounds. */
import { useState } from 'preact/hooks';
import { call } from '../../api/client';
import { useAction } from '../../components/action';
import { Clip } from '../../components/clip';
import { Button, TextField } from '../../components/controls';
import { Card, Failure } from '../../components/layout';
import { usePreferences } from '../../preferences';
import { tryDictionary } from './calls';
import type { Match, Trial } from './types';

interface Props {
  name: string;
  isChanged: boolean;
  /** Save what was changed; false where that failed. */
  onSave: () => Promise<boolean>;
}

export function TrialCard({ name, isChanged, onSave }: Props) {
  const [text, setText] = useState('');
  const [language, setLanguage] = useState('');
  const [tried, setTried] = useState<{ text: string; trial: Trial } | null>(null);
  const [clip, setClip] = useState<Blob | null>(null);
  const { model, voices } = usePreferences();
  const action = useAction();

  const trying = (work: () => Promise<void>) =>
    void action.run(async () => {
      if (isChanged && !(await onSave())) return;
      await work();
    });
  const read = async () => setTried({ text, trial: await tryDictionary(name, text, language) });
  const hear = async () => {
    const voice = voices[model];
    const json = { input: text, dictionaries: [name], ...(model && { model }), ...(voice && { voice }) };
    setClip(await (await call('v1/audio/speech', { json })).blob());
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (!text.trim()) action.fail('Write a text that has one of the words in it.');
    else trying(read);
  };

  return (
    <Card title="Try it">
      <form class="stack" onSubmit={submit}>
        <TextField label="Text" rows={2} value={text} onInput={setText} />
        <TextField label="Language of the text" placeholder="such as en-us" value={language} onInput={setLanguage} />
        <Failure error={action.error} />
        <div class="row">
          <Button type="submit" kind="primary" busy={action.busy}>
            {isChanged ? 'Save and try' : 'Try'}
          </Button>
          <Button icon="play" disabled={action.busy || !text.trim()} onClick={() => trying(hear)}>
            {isChanged ? 'Save and hear' : 'Hear it'}
          </Button>
        </div>
      </form>
      <div role="status">
        {tried && (
          <dl class="figures read">
            <div>
              <dt>Written</dt>
              <dd>{marked(tried.text, tried.trial.matches)}</dd>
            </div>
            <div>
              <dt>Said</dt>
              <dd>{readable(tried.trial.spoken)}</dd>
            </div>
          </dl>
        )}
        {tried?.trial.matches.length === 0 && <p>No entry matches this text.</p>}
        {tried?.trial.slow.map((pattern) => (
          <p key={pattern}>The pattern {pattern} takes too long and is left out. Make it simpler.</p>
        ))}
      </div>
      {clip && <Clip data={clip} label="The text with the dictionary" autoplay />}
    </Card>
  );
}

/** The text with the places that entries match. Positions count code points, as the server's do. */
function marked(text: string, matches: Match[]) {
  const points = [...text];
  let done = 0;
  const parts = [...matches]
    .sort((a, b) => a.start - b.start)
    .flatMap(({ start, end, say, phonemes }) => {
      const before = points.slice(done, start).join('');
      done = Math.max(done, end);
      return [
        before,
        <mark key={start} title={say || phonemes}>
          {points.slice(start, end).join('')}
        </mark>,
      ];
    });
  return [...parts, points.slice(done).join('')];
}

/** Phonemes stand in the server's answer as `[GIF](/dʒɪf/)`; people read `/dʒɪf/`. */
function readable(spoken: string): string {
  return spoken.replace(/\[[^\]]*\]\((\/[^)]*\/)\)/g, '$1');
}
