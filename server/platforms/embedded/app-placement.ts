import { dataDirectory, type ScriptVersion } from "./script-version.ts";

/** The edge proxy of another edge. */
export interface EdgeAddress {
  host: string;
  port: number;
}

/** While it is not disposed of, the app runs on this edge only, and its data is here. */
export interface PlacementHold extends AsyncDisposable {
  /** Aborted when the process of the app must end at once, because another edge may start the app soon. */
  lost: AbortSignal;
}

/** Decides on which edge an app runs whose data only one process may have open. */
export interface AppPlacement {
  /**
   * The other edge to which requests belong; `null` if this edge runs the app, or may start it.
   *
   * @param options.isNew - whether the result must be new, because another edge has found that this edge runs the app; otherwise it may
   *   be a second old
   */
  locate(version: ScriptVersion, options: { isNew: boolean }): Promise<EdgeAddress | null>;
  /**
   * Keeps an app on this edge, with its newest data.
   *
   * @param options.takesOver - whether another edge is asked to stop the app, and this waits for it
   * @returns `null` for an app that several edges may run
   * @throws {RunsElsewhere}
   */
  hold(version: ScriptVersion, options: { takesOver: boolean; signal: AbortSignal }): Promise<PlacementHold | null>;
  /** What the owner of an app must know about its data, for the log of the app; `null` if there is nothing. */
  notice(version: ScriptVersion): string | null;
  /** Opens the data of a Node server to read it. If another edge runs the app, it may be half a minute old. */
  openData(version: ScriptVersion, signal: AbortSignal): Promise<OpenData>;
}

/** The folder that is `/data` of a Node server, until it is disposed of. */
export interface OpenData extends AsyncDisposable {
  folder: string;
}

/** Opens the data on this machine. */
export function openLocalData(version: ScriptVersion): OpenData {
  return { folder: dataDirectory(version), [Symbol.asyncDispose]: async () => undefined };
}

/** Another edge runs the app. */
export class RunsElsewhere extends Error {
  override readonly name = "RunsElsewhere";
}

/** The placement of a single edge. */
export const ON_THIS_EDGE: AppPlacement = {
  locate: async () => null,
  hold: async () => null,
  notice: () => null,
  openData: async (version) => openLocalData(version),
};
