/** A button for what cannot be undone: it asks before it acts. */
import { useEffect, useRef, useState } from 'preact/hooks';
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
  useEffect(() => {
    if (asking) group.current?.querySelector('button')?.focus();
  }, [asking]);
  if (!asking) {
    return (
      <Button kind="danger" icon={icon} disabled={disabled} onClick={() => setAsking(true)}>
        {label}
      </Button>
    );
  }
  const yes = () => {
    setAsking(false);
    onConfirm();
  };
  return (
    <span ref={group} class="row tight" role="group" aria-label={question}>
      <span>{question}</span>
      <Button onClick={() => setAsking(false)}>No</Button>
      <Button kind="danger" disabled={disabled} onClick={yes}>
        Yes
      </Button>
    </span>
  );
}
