import type { AssetRules, Migration } from "../../../../domain/ports/bundler.ts";

/** What the inside of the sandbox tells the host about a bundle. The host checks every word of it. */
export type BundleResult =
  | { failure: { message: string; advice: string } }
  | {
      framework: string | null;
      /** `directory` is relative to the root of the source, and what is left out of it to itself. */
      assets: { directory: string; rules: AssetRules; leftOut: string[] } | null;
      migrations: Migration[];
    };
