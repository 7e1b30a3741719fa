/**
 * Preload for dependency-cruiser: `node --import ./scripts/preload-typescript-6.ts node_modules/.bin/depcruise`.
 *
 * dependency-cruiser reads TypeScript through the compiler's JavaScript API. TypeScript 7, which checks our types, has
 * none; without it dependency-cruiser finds no `.ts` file to look at and reports success.
 */
import { registerHooks } from "node:module";
// Fails here, loudly, when the package is not installed.
import "typescript-6";

registerHooks({
  resolve: (specifier, context, next) => next(specifier.replace(/^typescript(?=\/|$)/, "typescript-6"), context),
});
