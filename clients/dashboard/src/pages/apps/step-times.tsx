import type { Api } from "../../api.ts";
import { isChanging } from "../../apps-query.ts";
import { StepIcon } from "../../ui/step-icon.tsx";
import { formatDuration } from "../../ui/timestamp.tsx";

export type DeploymentDetail = Awaited<ReturnType<Api["deployments"]["get"]["query"]>>;
type Step = DeploymentDetail["steps"][number];

const NAMES: Readonly<Record<Step["name"], string>> = {
  fetch: "Fetch",
  customize: "Customize",
  prepare: "Prepare",
  install: "Install",
  build: "Build",
  bundle: "Bundle",
  inspect: "Inspect",
  store: "Store",
  provision: "Provision",
  migrate: "Migrate",
  publish: "Publish",
};

/** The steps of a deployment in their order, and how long each took. */
export function StepTimes({ deployment: { steps, status } }: { deployment: DeploymentDetail }) {
  if (steps.length === 0) return null;
  return (
    <ol aria-label="Steps" className="flex flex-wrap gap-x-5 gap-y-2">
      {steps.map((step, at) => (
        <li key={step.name} className="flex items-center gap-1.5">
          <StepIcon
            isRunning={step.finished_at === null && isChanging(status)}
            hasFailed={status === "failed" && at === steps.length - 1}
          />
          {NAMES[step.name]}
          <span className="text-muted tabular-nums">{step.finished_at !== null && describeTime(step)}</span>
        </li>
      ))}
    </ol>
  );
}

function describeTime({ started_at: start, finished_at: end }: Step): string {
  return end === null ? "" : formatDuration(Date.parse(end) - Date.parse(start));
}
