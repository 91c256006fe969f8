/** Find and replace in all turns. */
import { useState } from 'preact/hooks';
import { Button, TextField } from '../../components/controls';
import { toast } from '../../components/toasts';
import { replaced } from './cast';
import type { Turn } from './script';

export function ReplaceCard({ turns, onChange }: { turns: Turn[]; onChange: (turns: Turn[]) => void }) {
  const [find, setFind] = useState('');
  const [by, setBy] = useState('');
  const result = replaced(turns, find, by);
  const replace = () => {
    onChange(result.turns);
    toast(`Replaced ${result.count} times.`);
  };
  return (
    <details class="card">
      <summary>Find and replace</summary>
      <div class="stack">
        <div class="grid">
          <TextField label="Find" value={find} onInput={setFind} />
          <TextField label="Replace with" value={by} onInput={setBy} />
        </div>
        <div class="row">
          <Button disabled={result.count === 0} onClick={replace}>
            Replace all
          </Button>
          <span class="soft" role="status">
            {find && `${result.count} found`}
          </span>
        </div>
      </div>
    </details>
  );
}
