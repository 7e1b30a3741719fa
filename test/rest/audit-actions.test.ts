import { expect, test } from "vitest";
import { PROCEDURE_ACTIONS } from "../../clients/dashboard/src/pages/settings/audit-actions.ts";
import { appRouter } from "../../routers/index.ts";

interface Procedure {
  _def: { type: string; meta?: { isAudited?: boolean } };
}

test("the audit log suggests exactly the procedures that it records", () => {
  const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);
  const recorded = procedures.filter(([, { _def }]) => _def.type === "mutation" && _def.meta?.isAudited !== false);
  expect(recorded.map(([path]) => path).toSorted()).toEqual(PROCEDURE_ACTIONS);
});
