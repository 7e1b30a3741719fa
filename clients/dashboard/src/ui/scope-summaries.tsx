import { SCOPE_DESCRIPTIONS, SCOPES } from "../../../../domain/shared/scopes.ts";
import { Panel } from "./panel.tsx";

/** Explains what each scope of a token permits. */
export function ScopeSummaries() {
  return (
    <Panel title="Permissions" intro="The role of the token's owner limits these permissions further.">
      <dl className="space-y-2 text-sm">
        {SCOPES.map((scope) => (
          <div key={scope} className="grid gap-x-4 sm:grid-cols-[6rem_1fr]">
            <dt className="font-medium">{scope}</dt>
            <dd>{SCOPE_DESCRIPTIONS[scope].summary}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
