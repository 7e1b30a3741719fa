import { Button } from "./button.tsx";

/** How far a transfer is, and a button that ends it. */
export function TransferProgress({ children, onCancel }: { children: string; onCancel: () => void }) {
  return (
    <>
      <p role="status" className="text-muted">
        {children}
      </p>
      <Button variant="quiet" onClick={onCancel}>
        Cancel
      </Button>
    </>
  );
}
