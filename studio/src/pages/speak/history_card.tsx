/** What was spoken in this browser, to be heard again. */
import type { SpeechRequest } from '../../api/speech';
import { ConfirmButton } from '../../components/confirm';
import { IconButton } from '../../components/controls';
import { clearHistory, history } from '../../history';
import { useStore } from '../../store';

export function HistoryCard({ onSpeak }: { onSpeak: (request: SpeechRequest) => void }) {
  const spoken = useStore(history);
  if (spoken.length === 0) return null;
  return (
    <details class="card">
      <summary>Spoken before ({spoken.length})</summary>
      <div class="stack">
        <p class="hint">Kept in this browser only.</p>
        <ul class="spoken">
          {spoken.map(({ at, request }) => (
            <li key={at}>
              <IconButton icon="play" filled label={`Speak again: ${request.input.slice(0, 60)}`} onClick={() => onSpeak(request)} />
              <div>
                <p class="one-line">{request.input}</p>
                <p class="hint">
                  {[request.voice || 'default voice', request.model, new Date(at).toLocaleString()].filter(Boolean).join(' · ')}
                </p>
              </div>
            </li>
          ))}
        </ul>
        <div class="row">
          <ConfirmButton label="Clear the history" question="Forget all that was spoken?" onConfirm={clearHistory} />
        </div>
      </div>
    </details>
  );
}
