/** What a button starts: whether it is under way, and what went wrong. */
import { useRef, useState } from 'preact/hooks';
import { isAbort } from '../api/client';

export interface Action {
  busy: boolean;
  /** For `Failure`; null where nothing went wrong. */
  error: unknown;
  /** Do it; true when it succeeded. A second call while the first is under way does nothing. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
  /** Show a mistake that was found before anything was sent. */
  fail: (message: string) => void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  const run = async (work: () => Promise<unknown>) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (problem) {
      if (!isAbort(problem)) setError(problem);
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { busy, error, run, fail: (message) => setError(new Error(message)) };
}
