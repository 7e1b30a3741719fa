import { Download, ExternalLink } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import type { SetupStep } from "./clients.ts";

/** The steps that connect a client, in their order. */
export function SetupSteps({ steps }: { steps: readonly SetupStep[] }) {
  return (
    <ol className="space-y-3">
      {steps.map((step) => (
        <li key={step.kind === "note" ? step.text : step.label} className="space-y-1.5">
          <Step step={step} />
        </li>
      ))}
    </ol>
  );
}

function Step({ step }: { step: SetupStep }) {
  if (step.kind === "note") return <p className="wrap-anywhere">{step.text}</p>;
  if (step.kind === "code")
    return (
      <>
        <p className="wrap-anywhere">{step.intro}</p>
        <CodeBlock label={step.label} text={step.text} />
      </>
    );
  const Icon = step.isDownload === true ? Download : ExternalLink;
  return (
    <a href={step.href} download={step.isDownload} className={buttonClass("primary")}>
      <Icon aria-hidden className="size-4" />
      {step.label}
    </a>
  );
}
