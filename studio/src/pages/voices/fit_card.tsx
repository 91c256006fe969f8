/** One fit: how far it is, the similarity over its steps, and a button that cancels it. */
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../components/action';
import { Button } from '../../components/controls';
import { Failure, Notice, Progress } from '../../components/layout';
import { cancelFit } from './calls';
import { storeCurve, storedCurve, withStep, type Curve } from './curve';
import type { Fit } from './types';

const STATUS_WORDS: Record<Fit['status'], string> = {
  queued: 'Waiting for its turn',
  running: 'Being fitted',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function FitCard({ fit, onChanged }: { fit: Fit; onChanged: () => void }) {
  const [curve, setCurve] = useState(() => storedCurve(fit.id));
  const action = useAction();
  const over = fit.status !== 'queued' && fit.status !== 'running';
  useEffect(() => {
    const next = withStep(curve, fit);
    setCurve(next);
    storeCurve(fit.id, next);
  }, [fit.step, fit.status, fit.similarity]);

  return (
    <li class="card stack">
      <h3>{fit.name}</h3>
      <p>
        {STATUS_WORDS[fit.status]}
        {fit.status === 'running' && fit.steps > 0 && `: step ${fit.step} of ${fit.steps}`}
      </p>
      {!over && <Progress label={`Fitting ${fit.name}`} value={fit.progress} />}
      {fit.similarity !== null && (
        <p>Similarity to the recording {fit.similarity.toFixed(2)}. The same speaker would have 1.</p>
      )}
      {curve.length > 1 && <SimilarityCurve curve={curve} steps={fit.steps} />}
      {fit.error && <Notice kind="bad">{fit.error.message}</Notice>}
      {fit.voice?.warnings?.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
      <Failure error={action.error} />
      {!over && (
        <div class="row">
          <Button
            icon="close"
            busy={action.busy}
            aria-label={`Cancel fitting ${fit.name}`}
            onClick={() => void action.run(() => cancelFit(fit.id).then(onChanged))}
          >
            Cancel
          </Button>
        </div>
      )}
    </li>
  );
}

const WIDTH = 300;
const HEIGHT = 80;

/** Similarity from 0 at the bottom to 1 at the top. */
function SimilarityCurve({ curve, steps }: { curve: Curve; steps: number }) {
  const points = curve.map(([step, similarity]) => {
    const y = HEIGHT * (1 - Math.min(1, Math.max(0, similarity)));
    return `${((step / Math.max(1, steps)) * WIDTH).toFixed(1)},${y.toFixed(1)}`;
  });
  const [first, last] = [curve[0]?.[1] ?? 0, curve.at(-1)?.[1] ?? 0];
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Similarity over the steps, from ${first.toFixed(2)} to ${last.toFixed(2)}`}
    >
      <polyline class="line-0" points={points.join(' ')} />
    </svg>
  );
}
