/** What is missing to make voices, and a button that has the server fetch it. */
import { useAction } from '../../components/action';
import { Button } from '../../components/controls';
import { Card, Failure, Notice, Progress } from '../../components/layout';
import { sizeWords } from '../jobs/progress';
import { cancelPull, startPull, type MissingModel, type Need, type Needs, type Purpose, type Pull } from './needs';

const PURPOSE_WORDS: Record<Purpose, string> = {
  transcribe: 'To write down the words of a recording',
  clone: 'To speak with a cloned voice',
  fit: 'To fit a voice for Kokoro',
};

export function NeedsCard({ needs, onChanged }: { needs: Needs; onChanged: () => void }) {
  const lacking = needs.data.filter(({ ready }) => !ready);
  const { pull } = needs;
  if (!lacking.length && pull?.status !== 'running') return null;
  return (
    <Card title="What is missing">
      <ul class="stack">
        {lacking.map((need) => (
          <NeedRow key={need.purpose} need={need} needs={needs} onChanged={onChanged} />
        ))}
      </ul>
      {pull && <PullStatus pull={pull} onChanged={onChanged} />}
    </Card>
  );
}

function NeedRow({ need, needs, onChanged }: { need: Need; needs: Needs; onChanged: () => void }) {
  return (
    <li class="stack">
      <p>
        {PURPOSE_WORDS[need.purpose]}
        {need.reason ? `: ${need.reason}` : ' the server needs:'}
      </p>
      {need.missing.map((model) => (
        <ModelRow key={model.model} model={model} needs={needs} onChanged={onChanged} />
      ))}
    </li>
  );
}

function ModelRow({ model, needs, onChanged }: { model: MissingModel; needs: Needs; onChanged: () => void }) {
  const action = useAction();
  const size = model.bytes === null ? `at most ${sizeWords(model.max_bytes)}` : sizeWords(model.bytes);
  const licence = `code ${model.licence.code}, weights ${model.licence.weights}`;
  return (
    <div class="stack">
      <p>
        <strong>{model.title}</strong> ({model.model}): {size}; licence: {licence}.
      </p>
      {needs.allowed ? (
        <div class="row">
          <Button
            icon="download"
            busy={action.busy}
            disabled={needs.pull?.status === 'running'}
            aria-label={`Fetch ${model.model}`}
            onClick={() => void action.run(() => startPull(model.model).then(onChanged))}
          >
            Fetch
          </Button>
        </div>
      ) : (
        <p class="hint">
          Whoever runs the server fetches it with <code>polyvox pull {model.model}</code>; no restart is needed.
        </p>
      )}
      <Failure error={action.error} />
    </div>
  );
}

function PullStatus({ pull, onChanged }: { pull: Pull; onChanged: () => void }) {
  const action = useAction();
  if (pull.status === 'failed') return <Notice kind="bad">{pull.error}</Notice>;
  if (pull.status === 'done') return <Notice kind="good">{pull.model} is here.</Notice>;
  if (pull.status === 'cancelled') return <p class="hint">Stopped; what is fetched of {pull.model} is kept.</p>;
  const share = pull.bytes_total ? pull.bytes_done / pull.bytes_total : 0;
  return (
    <div class="stack" role="status">
      <p>
        {pull.step || `Fetching ${pull.model}`}: {sizeWords(pull.bytes_done)} of {sizeWords(pull.bytes_total)}
      </p>
      <Progress label={`Fetching ${pull.model}`} value={share} />
      <div class="row">
        <Button
          icon="close"
          busy={action.busy}
          aria-label={`Stop fetching ${pull.model}`}
          onClick={() => void action.run(() => cancelPull().then(onChanged))}
        >
          Stop
        </Button>
      </div>
      <Failure error={action.error} />
    </div>
  );
}
