import type { InputHTMLAttributes } from "react";
import { SELECT_CLASS } from "./field.tsx";

interface SearchInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  /** For screen readers; the placeholder says what is searched. */
  label: string;
  onChange: (text: string) => void;
}

/** The field that searches a list. */
export function SearchInput({ label, onChange, ...rest }: SearchInputProps) {
  return (
    <input
      type="search"
      aria-label={label}
      onChange={(event) => onChange(event.currentTarget.value)}
      className="min-h-8 min-w-48 flex-1 rounded-md border border-line-strong bg-surface px-2.5 placeholder:text-muted pointer-coarse:min-h-10"
      {...rest}
    />
  );
}

interface ChoiceProps<Value extends string> {
  /** For screen readers; the first option says what is chosen. */
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, label: string, ...rest: unknown[]])[];
  onChange: (value: Value) => void;
}

/** A select that filters or orders a list. */
export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <select
      aria-label={label}
      className={SELECT_CLASS}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as Value)}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}
