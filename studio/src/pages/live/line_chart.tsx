/** A small line chart over time, drawn as SVG. */

export interface Line {
  label: string;
  /** A value for each time; null where there is none. */
  values: (number | null)[];
}

interface Props {
  title: string;
  /** In milliseconds. */
  times: number[];
  lines: Line[];
  /** Writes a value for people. */
  format: (value: number) => string;
  /** The top of the chart is at least here, so that small values do not look large. */
  least: number;
}

const WIDTH = 300;
const HEIGHT = 72;

/** The chart with its latest values as text: a screen reader says what is drawn. */
export function LineChart({ title, times, lines, format, least }: Props) {
  const top = Math.max(least, ...lines.flatMap(({ values }) => values.filter((value) => value !== null)));
  const latest = lines.map(({ label, values }) => ({ label, text: written(values.at(-1), format) }));
  const said = latest.map(({ label, text }) => `${label} ${text}`).join(', ');
  return (
    <figure class="card graph">
      <figcaption>{title}</figcaption>
      <ul class="legend">
        {latest.map(({ label, text }, index) => (
          <li key={label} class={`line-${index}`}>
            <span>{label}</span> <strong>{text}</strong>
          </li>
        ))}
      </ul>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${said}`}
      >
        {lines.map(({ label, values }, index) => (
          <path key={label} class={`line-${index}`} d={pathOf(times, values, top)} />
        ))}
      </svg>
      <p class="hint scale">
        <span>{spanWords(times)}</span>
        <span>top of the chart {format(top)}</span>
      </p>
    </figure>
  );
}

function written(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? 'none' : format(value);
}

/** One path; it is broken where there is no value, and a value between two gaps is a dot. */
function pathOf(times: number[], values: (number | null)[], top: number): string {
  const first = times[0] ?? 0;
  const span = Math.max(1, (times.at(-1) ?? 0) - first);
  let path = '';
  let pen = 'M';
  values.forEach((value, index) => {
    const time = times[index];
    if (value === null || time === undefined) {
      pen = 'M';
      return;
    }
    const x = ((time - first) / span) * WIDTH;
    const y = HEIGHT - 2 - (value / top) * (HEIGHT - 4);
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    if (pen === 'M') path += 'h.1';
    pen = 'L';
  });
  return path;
}

function spanWords(times: number[]): string {
  const seconds = Math.round(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000);
  return seconds < 90 ? `last ${seconds} seconds` : `last ${Math.round(seconds / 60)} minutes`;
}
