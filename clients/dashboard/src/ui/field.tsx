import { type InputHTMLAttributes, type SelectHTMLAttributes, useId } from "react";

const INPUT_CLASS =
  "block min-h-10 w-full rounded-md border border-zinc-400 bg-white px-3 text-sm dark:border-zinc-600 dark:bg-zinc-900";

export const TEXT_AREA_CLASS =
  "block w-full rounded-md border border-zinc-400 bg-white px-3 py-2 font-mono text-sm dark:border-zinc-600 dark:bg-zinc-900";

/** A select in a line of text or a cell of a table. */
export const SELECT_CLASS =
  "min-h-10 min-w-0 max-w-full rounded-md border border-zinc-400 bg-white px-2 text-sm dark:border-zinc-600 dark:bg-zinc-900";

interface Labels {
  label: string;
  hint?: string;
}

export function Field({ label, hint, ...rest }: Labels & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input
        id={id}
        className={INPUT_CLASS}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...rest}
      />
      {hint !== undefined && <Hint id={`${id}-hint`} text={hint} />}
    </div>
  );
}

/** A field for a new password, with the limits that the service enforces. */
export function NewPasswordField({ label, name }: { label: string; name: string }) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      required
      minLength={10}
      maxLength={128}
      hint="At least 10 characters"
    />
  );
}

interface SelectProps extends Labels, SelectHTMLAttributes<HTMLSelectElement> {
  /** Pairs of value and label. */
  options: readonly (readonly [string, string])[];
}

export function Select({ label, hint, options, ...rest }: SelectProps) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <select
        id={id}
        className={INPUT_CLASS}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...rest}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <Hint id={`${id}-hint`} text={hint} />}
    </div>
  );
}

/** Returns the trimmed text of a form field. */
export function readText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

function Hint({ id, text }: { id: string; text: string }) {
  return (
    <p id={id} className="text-sm text-zinc-600 dark:text-zinc-400">
      {text}
    </p>
  );
}
