/** Buttons and fields. Every field has a visible label; every button has a text or an `aria-label`. */
import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icon';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  icon?: IconName;
  filled?: boolean;
  busy?: boolean;
  disabled?: boolean;
  children?: ComponentChildren;
}

export function Button({ kind = 'plain', icon, filled, busy = false, children, disabled, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={`button ${kind} ${rest.class ?? ''}`} disabled={disabled || busy} aria-busy={busy}>
      {busy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} filled={filled ?? false} />}
      {children && <span>{children}</span>}
    </button>
  );
}

/** A button of an icon alone; `label` is what it does. */
export function IconButton({ label, ...rest }: Omit<ButtonProps, 'children'> & { icon: IconName; label: string }) {
  return <Button kind="quiet" {...rest} class={`only-icon ${rest.class ?? ''}`} aria-label={label} title={label} />;
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** Whether the label is for screen readers only. */
  hideLabel?: boolean;
  class?: string;
}

type FieldChild = (ids: { id: string; 'aria-describedby'?: string }) => JSX.Element;

/** A label, a control and a hint that belong together. */
export function Field({ label, hint, hideLabel = false, class: name = '', children }: FieldProps & { children: FieldChild }) {
  const id = useId();
  return (
    <div class={`field ${name}`}>
      <label for={id} class={hideLabel ? 'unseen' : ''}>
        {label}
      </label>
      {children(hint ? { id, 'aria-describedby': `${id}-hint` } : { id })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface Option {
  value: string;
  label: string;
  disabled?: boolean;
}

export interface OptionGroup {
  label: string;
  options: Option[];
}

interface SelectProps extends FieldProps {
  value: string;
  options?: Option[];
  groups?: OptionGroup[];
  disabled?: boolean;
  onChange: (value: string) => void;
}

export function Select({ value, options = [], groups = [], disabled = false, onChange, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <div class="select">
          <select {...ids} disabled={disabled} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
            {options.map(option)}
            {groups.map((group) => (
              <optgroup key={group.label} label={group.label}>
                {group.options.map(option)}
              </optgroup>
            ))}
          </select>
          <Icon name="down" />
        </div>
      )}
    </Field>
  );
}

function option({ value, label, disabled = false }: Option) {
  return (
    <option key={value} value={value} disabled={disabled}>
      {label}
    </option>
  );
}

interface TextProps extends FieldProps {
  value: string;
  onInput: (value: string) => void;
  placeholder?: string;
  type?: 'text' | 'password' | 'search' | 'url' | 'number';
  rows?: number;
  disabled?: boolean;
  lang?: string;
}

/** A line of text; with `rows`, several. */
export function TextField({ value, onInput, placeholder, type = 'text', rows, disabled = false, lang, ...field }: TextProps) {
  const shared = { value, placeholder, disabled, lang, spellcheck: false, autocomplete: 'off' as const };
  return (
    <Field {...field}>
      {(ids) =>
        rows ? (
          <textarea {...ids} {...shared} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
        ) : (
          <input {...ids} {...shared} type={type as 'text'} onInput={(event) => onInput(event.currentTarget.value)} />
        )
      }
    </Field>
  );
}

interface SliderProps extends FieldProps {
  value: number;
  min: number;
  max: number;
  step: number;
  /** The value in words, such as `1.2×`. */
  text: string;
  onInput: (value: number) => void;
}

export function Slider({ value, min, max, step, text, onInput, ...field }: SliderProps) {
  return (
    <Field {...field} class={`slider ${field.class ?? ''}`}>
      {(ids) => (
        <div class="row tight">
          <input
            {...ids}
            type="range"
            min={min}
            max={max}
            step={step}
            value={value}
            aria-valuetext={text}
            onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
          />
          <output for={ids.id}>{text}</output>
        </div>
      )}
    </Field>
  );
}

export function Checkbox({ label, checked, onChange }: { label: string; checked: boolean; onChange: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  /** Whether the label is for screen readers only. */
  hideLabel?: boolean;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}

/** A few choices side by side, of which one holds. */
export function Choice<T extends string>({ label, hideLabel = false, value, options, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class={hideLabel ? 'unseen' : ''}>{label}</legend>
      <div class="segments">
        {options.map((each) => (
          <label key={each.value}>
            <input type="radio" name={name} value={each.value} checked={each.value === value} onChange={() => onChange(each.value)} />
            <span>{each.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
