import path from "node:path";
import type { AssetRules, NodeServer } from "../../../domain/ports/bundler.ts";

/** A layer of a Node server, and the folder to which it was unpacked. */
export interface UnpackedLayer {
  digest: string;
  directory: string;
}

export type VersionCode =
  | { runtime: "worker"; formPath: string }
  | { runtime: "node"; server: NodeServer<UnpackedLayer> };

/** One version of an app. All paths are absolute. */
export interface ScriptVersion {
  slug: string;
  appId: string;
  /** Absent for one that an earlier version of the service published. */
  organizationId?: string;
  generation: number;
  databaseId: string;
  /** The name of the version, unique within the app. */
  name: string;
  /** The folder with the files that only this version has. */
  folder: string;
  code: VersionCode;
  assets: { directory: string; rules: AssetRules } | null;
  /** The app's own key-value, object and durable storage. All its versions share it. */
  storageDirectory: string;
}

/** The folder that is `/data` of a Node server. */
export function dataDirectory({ storageDirectory }: Pick<ScriptVersion, "storageDirectory">): string {
  return path.join(storageDirectory, "data");
}
