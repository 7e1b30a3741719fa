import type { Bundle } from "./bundler.ts";

/** What an app did in a trial. Texts are untrusted. */
export interface TrialStart {
  /** Why it does not start; `null` if it starts. */
  problem: string | null;
  /** The status of the response to `GET /`; `null` without a response. */
  status: number | null;
  /** The first lines that an app printed that does not start. */
  printed: readonly string[];
}

/** Starts apps beside their deployments, to see whether they start. */
export interface AppTrial {
  /**
   * Applies the migrations of an app to a new database of the kind that it uses, starts the app with it, requests `/`, and removes
   * everything again. The app has no network, and none of the data of the deployed app.
   *
   * @param variables - the values of its variables in the trial. A Node server does not get those that name its database.
   */
  start(bundle: Bundle, variables: Readonly<Record<string, string>>, signal: AbortSignal): Promise<TrialStart>;
}
