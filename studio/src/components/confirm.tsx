/** A button for what cannot be undone: it asks before it acts. The focus stays with it. */
import { useRef, useState } from 'preact/hooks';
import { Button } from './controls';
import type { IconName } from './icon';

interface Props {
  label: string;
  /** What is asked, such as `Delete Anna?`. */
  question: string;
  icon?: IconName;
  disabled?: boolean;
  onConfirm: () => void;
}

export function ConfirmButton({ label, question, icon = 'trash', disabled = false, onConfirm }: Props) {
  const [asking, setAsking] = useState(false);
  const group = useRef<HTMLSpanElement>(null);
  const turn = (next: boolean) => {
    setAsking(next);
    requestAnimationFrame(() => group.current?.querySelector('button')?.focus());
  };
  const yes = () => {
    turn(false);
    onConfirm();
  };
  return (
    <span ref={group} class="row" role="group" aria-label={question}>
      {asking ? (
        <>
          <span>{question}</span>
          <Button onClick={() => turn(false)}>No</Button>
          <Button kind="danger" disabled={disabled} onClick={yes}>
            Yes
          </Button>
        </>
      ) : (
        <Button kind="danger" icon={icon} disabled={disabled} onClick={() => turn(true)}>
          {label}
        </Button>
      )}
    </span>
  );
}
