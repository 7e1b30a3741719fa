/** From this share of the limit, a meter is yellow. */
const NEARLY_FULL = 0.8;

interface MeterProps {
  /** What is measured, for screen readers. */
  label: string;
  value: number;
  max: number;
  /** The value as text, such as `3 of 10`. */
  text: string;
}

/** A bar that shows how much of a limit is used. The text beside it is up to the page. */
export function Meter({ label, value, max, text }: MeterProps) {
  const share = max === 0 ? (value > 0 ? 1 : 0) : Math.min(value / max, 1);
  const color = share >= 1 ? "bg-danger" : share >= NEARLY_FULL ? "bg-warning" : "bg-accent";
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={text}
      className="h-1.5 w-full overflow-hidden rounded-full bg-selected"
    >
      {/* What is used a little is visible too. */}
      <div className={`h-full rounded-full ${color}`} style={{ width: value > 0 ? `max(${share * 100}%, 3px)` : 0 }} />
    </div>
  );
}
