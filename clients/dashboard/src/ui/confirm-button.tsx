import { type ReactNode, useId, useRef } from "react";
import { Button } from "./button.tsx";

interface ConfirmButtonProps {
  /** The text of both the button and the confirmation. */
  label: string;
  /** The label for screen readers, when the short one is ambiguous, such as `Revoke` in a table. */
  accessibleLabel?: string;
  question: string;
  children: ReactNode;
  busy?: boolean;
  onConfirm: () => void;
}

/** A button for an action that cannot be undone. It asks for confirmation first. */
export function ConfirmButton({
  label,
  accessibleLabel,
  question,
  children,
  busy = false,
  onConfirm,
}: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const close = () => dialog.current?.close();
  return (
    <>
      <Button variant="danger" busy={busy} aria-label={accessibleLabel} onClick={() => dialog.current?.showModal()}>
        {label}
      </Button>
      <dialog
        ref={dialog}
        aria-labelledby={title}
        className="m-auto max-w-md rounded-lg border border-zinc-200 bg-white p-6 text-left text-zinc-900 dark:border-zinc-700 dark:bg-zinc-900 dark:text-zinc-100"
      >
        <h2 id={title} className="text-lg font-semibold">
          {question}
        </h2>
        <div className="mt-2 text-sm text-zinc-600 dark:text-zinc-400">{children}</div>
        <div className="mt-6 flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="danger"
            onClick={() => {
              close();
              onConfirm();
            }}
          >
            {label}
          </Button>
        </div>
      </dialog>
    </>
  );
}
