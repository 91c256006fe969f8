/** Short messages that go away by themselves; screen readers say them. */
import { createStore, useStore } from '../store';
import { Notice } from './layout';

interface Toast {
  id: number;
  kind: 'info' | 'good' | 'bad';
  text: string;
}

const SECONDS = 6;
const toasts = createStore<Toast[]>([]);
let last = 0;

export function toast(text: string, kind: Toast['kind'] = 'good'): void {
  const id = ++last;
  toasts.set([...toasts.get(), { id, kind, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((each) => each.id !== id)), SECONDS * 1000);
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div class="toasts" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <Notice key={id} kind={kind}>
          {text}
        </Notice>
      ))}
    </div>
  );
}
