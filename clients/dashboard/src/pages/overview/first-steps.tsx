import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { type App, isChanging } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { EXAMPLES } from "../apps/examples.ts";
import { useDeploy } from "../apps/use-deploy.ts";
import type { ShownSteps } from "./use-first-steps.ts";

/** What a new organization does first, until all is done or the user dismisses it. */
export function FirstSteps({ apps, steps }: { apps: readonly App[]; steps: ShownSteps }) {
  const { id: orgId } = useOrganization();
  const done = [steps.hasApp, steps.isAgentConnected, steps.isTeammateInvited].filter(Boolean).length;
  return (
    <Panel title="First steps">
      <ol className="divide-y divide-line border-y border-line">
        <Step
          title="Deploy an example"
          text="The guestbook is a page with a SQL database of its own. It is live within a minute."
          isDone={steps.hasApp}
        >
          <DeployExample apps={apps} />
        </Step>
        <Step
          title="Connect an agent"
          text="Claude, Cursor, Codex or another MCP client then deploys apps and calls their procedures."
          isDone={steps.isAgentConnected}
        >
          <Link to="/connect" search={{ org: orgId }} className={buttonClass()}>
            Connect
          </Link>
        </Step>
        <Step
          title="Invite a teammate"
          text="Members share apps, agents and knowledge of the organization."
          isDone={steps.isTeammateInvited}
        >
          <RequireRole role="admin" to="invite users">
            <Link to="/settings/members" search={{ org: orgId }} className={buttonClass()}>
              Invite
            </Link>
          </RequireRole>
        </Step>
      </ol>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">{done} of 3 done</p>
        <Button variant="quiet" onClick={steps.dismiss}>
          Dismiss
        </Button>
      </div>
    </Panel>
  );
}

interface StepProps {
  title: string;
  text: string;
  isDone: boolean;
  /** What starts the step. */
  children: ReactNode;
}

function Step({ title, text, isDone, children }: StepProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <span
        aria-hidden
        className={`grid size-5 shrink-0 place-items-center rounded-full border ${isDone ? "border-success/40 bg-success-soft text-success" : "border-line-strong"}`}
      >
        {isDone && <Check className="size-3" />}
      </span>
      <div className="min-w-0 flex-1 basis-56">
        <h3 className={`font-medium ${isDone ? "text-muted" : ""}`}>
          {title}
          {isDone && <span className="sr-only"> (done)</span>}
        </h3>
        <p className="text-muted">{text}</p>
      </div>
      <div className="max-sm:w-full max-sm:pl-8 sm:max-w-xs">{isDone ? null : children}</div>
    </li>
  );
}

function DeployExample({ apps }: { apps: readonly App[] }) {
  const { id: orgId } = useOrganization();
  const deploy = useDeploy();
  const running = apps.find(({ status }) => isChanging(status));
  if (running !== undefined)
    return (
      <Link to="/apps/$id" params={{ id: running.id }} search={{ org: orgId }} className={buttonClass()}>
        Deploying {running.name}…
      </Link>
    );
  return (
    <div className="space-y-2">
      <Button
        variant="primary"
        busy={deploy.isPending}
        onClick={() => deploy.mutate({ request: { repo: EXAMPLES[0].repo } })}
      >
        {deploy.isPending ? "Deploying…" : "Deploy the guestbook"}
      </Button>
      <ErrorNotice error={deploy.error} />
    </div>
  );
}
