import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

export const INPUT_CLASS =
  "block min-h-8 pointer-coarse:min-h-10 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm aria-invalid:border-danger";

/** A select in a line of text or a cell of a table. */
export const SELECT_CLASS =
  "min-h-8 pointer-coarse:min-h-10 min-w-0 max-w-full rounded-md border border-line-strong bg-surface px-2 text-sm";

interface Labels {
  label: string;
  hint?: string;
  /** Why the service does not accept the value. */
  error?: string | undefined;
}

interface LabeledProps extends Labels {
  /** Renders the control with the attributes that connect it to the label, the hint and the error. */
  children: (attributes: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": true | undefined;
  }) => ReactNode;
}

export function Labeled({ label, hint, error, children }: LabeledProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  const errorId = error === undefined ? undefined : `${id}-error`;
  const describedBy = [errorId, hintId].filter((each) => each !== undefined).join(" ") || undefined;
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="block pb-1 text-sm font-medium">
        {label}
      </label>
      {children({ id, "aria-describedby": describedBy, "aria-invalid": error === undefined ? undefined : true })}
      {error !== undefined && (
        <p id={errorId} role="alert" className="pt-1 text-sm wrap-anywhere text-danger">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} className="pt-1 text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

export function Field({ label, hint, error, className = "", ...rest }: Labels & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labeled label={label} error={error} {...(hint !== undefined && { hint })}>
      {(attributes) => <input {...attributes} className={`${INPUT_CLASS} ${className}`} {...rest} />}
    </Labeled>
  );
}

/** A field for a text of several lines. */
export function TextArea({
  label,
  hint,
  error,
  className = "",
  ...rest
}: Labels & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labeled label={label} error={error} {...(hint !== undefined && { hint })}>
      {(attributes) => (
        <textarea
          {...attributes}
          className={`block w-full rounded-md border border-line-strong bg-surface px-2.5 py-2 text-sm placeholder:text-muted aria-invalid:border-danger ${className}`}
          {...rest}
        />
      )}
    </Labeled>
  );
}

export function Checkbox({ label, ...rest }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="flex min-h-8 items-center gap-2 text-sm pointer-coarse:min-h-10">
      <input type="checkbox" className="size-4 shrink-0 accent-accent" {...rest} />
      {label}
    </label>
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
  return (
    <Labeled label={label} {...(hint !== undefined && { hint })}>
      {(attributes) => (
        <select {...attributes} className={INPUT_CLASS} {...rest}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labeled>
  );
}

/** Returns the trimmed text of a form field. */
export function readText(form: FormData, name: string): string {
  return readValue(form, name).trim();
}

/** Returns the trimmed texts of the form fields with these names that exist and are not empty. */
export function readGiven<Name extends string>(form: FormData, names: readonly Name[]): Partial<Record<Name, string>> {
  const given = names.map((name) => [name, readText(form, name)] as const).filter(([, text]) => text !== "");
  return Object.fromEntries(given) as Partial<Record<Name, string>>;
}

/** Returns the text of a form field as it was entered. */
export function readValue(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}
