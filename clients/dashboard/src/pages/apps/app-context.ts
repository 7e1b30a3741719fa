import { createContext, useContext } from "react";
import type { AppDetail } from "../../apps-query.ts";

/** How often a page reads what changes by itself, such as the status of a deployment. */
export const REFRESH_MS = 2_000;

export const AppContext = createContext<AppDetail | null>(null);

/** Returns the app of the page. Call it below `AppPage`. */
export function useApp(): AppDetail {
  const app = useContext(AppContext);
  if (app === null) throw new Error("useApp: the page has no app");
  return app;
}
