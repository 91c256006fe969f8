/** A place for a file: choose it, or drop it. */
import { useState } from 'preact/hooks';
import { Field } from './controls';

interface Props {
  label: string;
  hint: string;
  accept: string;
  file: File | null;
  onChange: (file: File | null) => void;
}

export function DropZone({ label, hint, accept, file, onChange }: Props) {
  const [over, setOver] = useState(false);
  const drag = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const dropped = event.dataTransfer?.files[0];
    if (dropped) onChange(dropped);
  };
  return (
    <div class={`drop ${over ? 'over' : ''}`} onDragOver={drag} onDragLeave={() => setOver(false)} onDrop={drop}>
      <Field label={label} hint={hint}>
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept={accept}
            onChange={(event) => onChange(event.currentTarget.files?.[0] ?? null)}
          />
        )}
      </Field>
      <p role="status">{file && `${file.name} is chosen.`}</p>
    </div>
  );
}
