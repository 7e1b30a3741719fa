/**
 * Text that every script with procedures contains: a property of tRPC routers, or a word of OpenAPI or JSON-RPC.
 * `_def` must stand alone, because every bundle contains the bundler's own `__defProp`.
 */
const PROCEDURE_TEXT = /(?<![\w$])_def(?![\w$])|openapi|jsonrpc|tools\/list/;

/**
 * Scans a script for signs of procedures. Most apps have none, and then need not be started. The scan can be wrong in
 * one direction only: a script may contain the text for another reason.
 */
export function mayOfferProcedures(script: string): boolean {
  return PROCEDURE_TEXT.test(script);
}
