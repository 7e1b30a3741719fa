import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";

interface MenuProps {
  /** The button that opens the menu. */
  trigger: ReactElement;
  defaultOpen?: boolean;
  side?: "top" | "bottom";
  align?: "start" | "end";
  /** `MenuItem`, `MenuLink`, `MenuChoice` and `MenuSeparator`. */
  children: ReactNode;
}

const ITEM_CLASS =
  "flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-left text-sm outline-none select-none data-highlighted:bg-hover data-disabled:opacity-60 pointer-coarse:min-h-10";

export function Menu({ trigger, defaultOpen = false, side = "bottom", align = "start", children }: MenuProps) {
  return (
    <Base.Root modal={false} defaultOpen={defaultOpen}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={4} className="z-50 outline-none">
          <Base.Popup className="max-h-(--available-height) max-w-[min(20rem,var(--available-width))] min-w-48 overflow-y-auto rounded-lg border border-line bg-raised p-1 text-ink shadow-lg outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface MenuItemProps {
  children: ReactNode;
  /** Whether the action destroys something. */
  danger?: boolean;
  disabled?: boolean;
  onClick: () => void;
}

export function MenuItem({ children, danger = false, disabled = false, onClick }: MenuItemProps) {
  return (
    <Base.Item disabled={disabled} onClick={onClick} className={`${ITEM_CLASS} ${danger ? "text-danger" : ""}`}>
      {children}
    </Base.Item>
  );
}

/** @param props.link - an `a` element or a `Link` of the router, with its content */
export function MenuLink({ link }: { link: ReactElement }) {
  return <Base.Item render={link} className={ITEM_CLASS} />;
}

interface MenuChoiceProps<Value extends string> {
  label: string;
  value: Value | undefined;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
}

/** A list of options, one of which is chosen. */
export function MenuChoice<Value extends string>({ label, value, options, onChange }: MenuChoiceProps<Value>) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-2 py-1 text-xs text-muted">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={onChange}>
        {options.map(([option, text]) => (
          <Base.RadioItem
            key={option}
            value={option}
            data-value={option}
            closeOnClick
            className={`${ITEM_CLASS} justify-between`}
          >
            <span className="truncate">{text}</span>
            <Base.RadioItemIndicator aria-hidden className="text-muted">
              ✓
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

export function MenuSeparator() {
  return <Base.Separator className="mx-1 my-1 h-px bg-line" />;
}
