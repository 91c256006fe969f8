/** The dialogue as text: for copying it out, and for pasting one in. */
import { useState } from 'preact/hooks';
import { useAction } from '../../components/action';
import { Button, TextField } from '../../components/controls';
import { Failure } from '../../components/layout';
import { withNames, withRoles, type Role } from './cast';
import { parseScript, writeScript, type Turn } from './script';

export function ScriptCard({ turns, cast, onChange }: { turns: Turn[]; cast: Role[]; onChange: (turns: Turn[]) => void }) {
  const [script, setScript] = useState<string | null>(null);
  const action = useAction();
  const use = () =>
    void action.run(async () => {
      onChange(withRoles(parseScript(script ?? '', 1), cast));
      setScript(null);
    });
  return (
    <details class="card" onToggle={() => setScript(null)}>
      <summary>As text</summary>
      <div class="stack">
        <TextField
          label="Script"
          hint="Lines of “voice: text”, or with a name of the cast in place of the voice. An indented line continues the turn before it."
          rows={6}
          value={script ?? writeScript(withNames(turns, cast))}
          onInput={setScript}
        />
        <Failure error={action.error} />
        <div class="row">
          <Button disabled={script === null} onClick={use}>
            Use this script
          </Button>
        </div>
      </div>
    </details>
  );
}
