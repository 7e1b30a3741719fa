import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { useEffect } from "react";
import { listenForToasts, takeToasts, type ToastMessage } from "../show-toast.ts";
import { buttonClass } from "./button.tsx";

const manager = Toast.createToastManager();

/** How long a message with a button stays. It stays longer while the pointer or the focus is on it. */
const UNDO_MS = 12_000;

/** Shows the messages of `showToast`. The document has one. */
export function Toasts() {
  useEffect(
    () =>
      listenForToasts(() => {
        for (const message of takeToasts()) addToast(message);
      }),
    [],
  );
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function addToast({ action, ...message }: ToastMessage): void {
  if (action === undefined) {
    manager.add(message);
    return;
  }
  const { label, run } = action;
  const id = manager.add({
    ...message,
    timeout: UNDO_MS,
    actionProps: {
      children: label,
      onClick: () => {
        manager.close(id);
        run();
      },
    },
  });
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="flex items-start gap-2 rounded-lg border border-line bg-raised p-3 text-sm text-ink shadow-lg"
    >
      <div className="min-w-0 flex-1 wrap-anywhere">
        <Toast.Title className="font-medium" />
        <Toast.Description className="text-muted" />
      </div>
      {toast.actionProps !== undefined && <Toast.Action className={buttonClass()} />}
      <Toast.Close aria-label="Close" className="rounded-md p-1 text-muted hover:bg-hover">
        <X aria-hidden className="size-4" />
      </Toast.Close>
    </Toast.Root>
  ));
}
