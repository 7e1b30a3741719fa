import { type ReactNode, type RefObject, useEffect, useId, useRef } from "react";

interface DialogProps {
  title: string;
  description?: ReactNode;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog in the center of the window. The focus stays in it, and returns to where it was. */
export function Dialog({ title, description, open, onClose, children }: DialogProps) {
  const dialog = useModal(open);
  const id = useId();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Escape closes it too.
      onClose={onClose}
      className="m-auto max-h-[calc(100dvh-2rem)] w-[min(30rem,calc(100vw-2rem))] overflow-y-auto rounded-xl border border-line bg-raised p-5 text-left text-ink shadow-xl"
    >
      <h2 id={id} className="text-lg font-semibold wrap-anywhere">
        {title}
      </h2>
      {description !== undefined && <div className="pt-1 text-sm text-muted">{description}</div>}
      <div className="pt-5">{children}</div>
    </dialog>
  );
}

/** Returns the ref of a dialog that is open or closed. */
export function useModal(open: boolean): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return dialog;
}
