import { SCOPE_DESCRIPTIONS, SCOPES } from "../../../../domain/shared/scopes.ts";
import { DefinitionList } from "./definition-list.tsx";
import { Panel } from "./panel.tsx";

/** Explains what each scope of a token permits. */
export function ScopeSummaries() {
  return (
    <Panel title="Permissions" intro="The role of the token's owner limits these permissions further.">
      <DefinitionList entries={SCOPES.map((scope) => [scope, SCOPE_DESCRIPTIONS[scope].summary])} />
    </Panel>
  );
}
