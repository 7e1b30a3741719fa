import { Button } from "./button.tsx";

interface ToggleGroupProps<Value extends string> {
  /** Read by screen readers. */
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
}

/** A row of buttons, one of which is pressed. */
export function ToggleGroup<Value extends string>({ label, value, options, onChange }: ToggleGroupProps<Value>) {
  return (
    <div role="group" aria-label={label} className="flex gap-1">
      {options.map(([option, text]) => (
        <Button
          key={option}
          variant="quiet"
          aria-pressed={value === option}
          onClick={() => onChange(option)}
          className={value === option ? "bg-selected text-ink" : ""}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}
