import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { copyText } from "../copy-text.ts";
import { Button } from "./button.tsx";

/**
 * Copies a text to the clipboard.
 *
 * @param props.of - what is copied, for screen readers, such as `URL`
 */
export function CopyButton({ text, of }: { text: string; of: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  const Icon = isCopied ? Check : Copy;
  return (
    <Button variant="quiet" className="px-2" onClick={() => void copy()}>
      <Icon aria-hidden className="size-4" />
      <span className="sr-only">{isCopied ? `Copied the ${of}` : `Copy the ${of}`}</span>
    </Button>
  );
}
