/** What tools print if they do not support the version of Node.js. */
const UNSUPPORTED: readonly RegExp[] = [
  /bad node version/i,
  /\bunsupported (node(\.?js)?|engine)\b/i,
  /\bnode(\.?js)?( version)? v?\d[\w.]* (is|was) (not supported|unsupported|no longer supported|outdated)/i,
  /\bnode(\.?js)? version .{0,80}\b(is required|not supported|unsupported|incompatible)/i,
  /\b(requires?|required|minimum|need|supports?|upgrade to|please (use|update|upgrade)) .{0,40}\bnode(\.?js)?( versions?)?:? ?(is |of )?[v\d^>=<~]/i,
  /\bengine "?node"? is incompatible/i,
];

/** Whether a cause is the version of Node.js. */
export function isAboutNodeVersion(cause: string): boolean {
  return UNSUPPORTED.some((pattern) => pattern.test(cause));
}

/** Errors that a version of Node.js causes, and the newest version without them. */
const REMOVED: readonly (readonly [pattern: RegExp, newest: number])[] = [
  [/\bCannot set property crypto of #<Object> which has only a getter/, 18],
  [/\bCannot set property navigator of #<Object> which has only a getter/, 20],
  [
    /\butil\w*\.is(?:Boolean|Buffer|Date|Error|Function|Null|NullOrUndefined|Number|Object|Primitive|RegExp|String|Symbol|Undefined) is not a function/,
    22,
  ],
];

/** Returns the newest version of Node.js that does not cause the error; `null` if the version is not the cause. */
export function newestNodeWithout(cause: string): number | null {
  return REMOVED.find(([pattern]) => pattern.test(cause))?.[1] ?? null;
}

/** @param version - with which the build ran */
export function adviseOnNodeVersion(version: string): string {
  return `The build ran with Node.js ${version}. Choose another version with "engines": { "node": "22" } in package.json, or with a file .nvmrc that contains 22, and deploy again. Or update the tool to a version that supports this Node.js.`;
}
