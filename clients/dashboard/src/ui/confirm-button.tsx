import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";

interface ConfirmButtonProps {
  /** The text of both the button and the confirmation. */
  label: string;
  /** The label for screen readers, when the short one is ambiguous, such as `Revoke` in a table. */
  accessibleLabel?: string;
  question: string;
  children: ReactNode;
  busy?: boolean;
  /** Whether the action destroys something. */
  danger?: boolean;
  /** Whether the button is one of many, such as in each row of a table. */
  quiet?: boolean;
  /** What the user must type before the action, which destroys more than one thing: a name. */
  typed?: string;
  onConfirm: () => void;
}

/** A button for an action with consequences. It asks for confirmation first. */
export function ConfirmButton({
  label,
  accessibleLabel,
  question,
  children,
  busy = false,
  danger = true,
  quiet = false,
  typed,
  onConfirm,
}: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button
        variant={quiet ? "quiet" : danger ? "danger" : "plain"}
        busy={busy}
        // Its text is in line with the column.
        className={quiet ? "-ml-3" : ""}
        aria-label={accessibleLabel}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Dialog title={question} description={children} open={isOpen} onClose={close}>
        {isOpen && (
          <Confirmation
            {...{ label, danger, typed }}
            onCancel={close}
            onConfirm={() => {
              close();
              onConfirm();
            }}
          />
        )}
      </Dialog>
    </>
  );
}

interface ConfirmationProps {
  label: string;
  danger: boolean;
  typed: string | undefined;
  onCancel: () => void;
  onConfirm: () => void;
}

function Confirmation({ label, danger, typed, onCancel, onConfirm }: ConfirmationProps) {
  const [text, setText] = useState("");
  const variant = danger ? "danger" : "primary";
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        onConfirm();
      }}
    >
      {typed !== undefined && (
        <Field
          label={`Type ${typed} to confirm`}
          value={text}
          autoComplete="off"
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant={variant} disabled={typed !== undefined && text.trim() !== typed.trim()}>
          {label}
        </Button>
      </div>
    </form>
  );
}
