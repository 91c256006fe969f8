/** Audio that is in the page's memory, with the browser's own player. */
import { useEffect, useMemo } from 'preact/hooks';

export function Clip({ data, label, autoplay = false }: { data: Blob; label: string; autoplay?: boolean }) {
  const url = useMemo(() => URL.createObjectURL(data), [data]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return <audio class="clip" controls autoplay={autoplay} src={url} aria-label={label} />;
}
