/** What the server found in a recording, in plain words. */
import { Icon } from '../../components/icon';
import { findings, verdict } from './quality';
import type { Quality } from './types';

export function QualityReport({ quality }: { quality: Quality }) {
  return (
    <div class="quality">
      <p>
        <strong>{verdict(quality.score)}</strong> ({Math.round(quality.score * 100)} of 100 points)
      </p>
      <ul class="findings">
        {findings(quality).map(({ label, value, good }) => (
          <li key={label} class={good ? 'good' : 'poor'}>
            <Icon name={good ? 'check' : 'alert'} />
            <span>
              {label}: {value}
            </span>
          </li>
        ))}
      </ul>
      {quality.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
      {quality.fitted && (
        <p>
          Fitted for {quality.fitted.model}. Similarity to the recording is {quality.fitted.similarity.toFixed(2)}; that
          of the nearest built-in voice is {quality.fitted.base_similarity.toFixed(2)}. The same speaker would have 1.
        </p>
      )}
    </div>
  );
}
