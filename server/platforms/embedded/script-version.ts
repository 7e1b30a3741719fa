import type { AssetRules } from "../../../domain/ports/bundler.ts";

/** One version of an app's script. All paths are absolute. */
export interface ScriptVersion {
  slug: string;
  appId: string;
  generation: number;
  databaseId: string;
  /** The name of the version, unique within the app. */
  name: string;
  formPath: string;
  assets: { directory: string; rules: AssetRules } | null;
  /** The app's own key-value, object and durable storage. All its versions share it. */
  storageDirectory: string;
}
