import { Circle } from "lucide-react";
import { readTeardownStep, TEARDOWN_STEPS } from "../../../../../domain/deployments/teardown-steps.ts";
import { StepIcon } from "../../ui/step-icon.tsx";

/** What of an app that is being deleted is removed already. */
export function DeletionProgress({ message }: { message: string | null }) {
  const step = readTeardownStep(message);
  const current = step === null ? 0 : TEARDOWN_STEPS.indexOf(step);
  return (
    <div role="status" className="space-y-2 rounded-md border border-line bg-sunken px-3 py-2 text-sm">
      <p className="font-medium">The app is being deleted.</p>
      <ol aria-label="Steps of the deletion" className="space-y-1">
        {TEARDOWN_STEPS.map((name, index) => (
          <li key={name} className={`flex items-center gap-1.5 ${index > current ? "text-muted" : ""}`}>
            {index > current ? (
              <Circle aria-hidden className="size-4 text-muted" />
            ) : (
              <StepIcon isRunning={index === current} hasFailed={false} />
            )}
            {name.charAt(0).toUpperCase() + name.slice(1)}
          </li>
        ))}
      </ol>
    </div>
  );
}
