import { useState } from "react";
import { copyText } from "../copy-text.ts";
import { Button } from "./button.tsx";

/** Shows a secret with a button to copy it. */
export function SecretValue({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(value);
    setCopied(true);
  };
  return (
    <div className="space-y-2">
      <p className="text-sm font-medium">{label}</p>
      <div className="flex flex-wrap items-center gap-2">
        <code
          data-testid="secret"
          className="min-w-0 flex-1 rounded-md bg-sunken px-3 py-2 text-sm break-all select-all"
        >
          {value}
        </code>
        <Button onClick={() => void copy()}>{copied ? "Copied" : "Copy"}</Button>
      </div>
    </div>
  );
}
