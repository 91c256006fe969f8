/** Ask the server again and again while a page is open and seen. */

import { useEffect, useRef } from 'preact/hooks';

/** Call `poll` at once and then so many milliseconds after each call has ended; never while `active` is false. */
export function usePolling(poll: (signal: AbortSignal) => Promise<void>, milliseconds: number, active = true): void {
  const latest = useRef(poll);
  latest.current = poll;
  useEffect(() => {
    if (!active) return undefined;
    const leaving = new AbortController();
    let timer = 0;
    const turn = async () => {
      if (document.visibilityState === 'visible') await latest.current(leaving.signal);
      if (!leaving.signal.aborted) timer = window.setTimeout(turn, milliseconds);
    };
    void turn();
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [milliseconds, active]);
}
