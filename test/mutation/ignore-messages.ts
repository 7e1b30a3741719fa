import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";
import type { NodePath } from "@stryker-mutator/api/ignore";

/** The part of Babel's syntax tree that is used here. */
interface SyntaxNode {
  type: string;
  name?: string;
  callee?: SyntaxNode;
  object?: SyntaxNode;
  property?: SyntaxNode;
  arguments?: SyntaxNode[];
}

interface SyntaxPath extends NodePath {
  node: SyntaxNode;
  parent?: SyntaxNode;
  parentPath?: SyntaxPath;
}

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Log lines and the text of errors are written for humans. A test that repeats them word by word guards nothing. */
function shouldIgnore(path: NodePath): string | undefined {
  const { node, parent } = path as SyntaxPath;
  if (isLogCall(node)) return "a log line";
  if (isText(node) && parent?.type === "NewExpression" && isThrownOrError(path as SyntaxPath))
    // The first argument of a ServiceError is its code.
    return parent.callee?.name === "ServiceError" && parent.arguments?.[0] === node ? undefined : "an error message";
  return undefined;
}

function isThrownOrError({ parent, parentPath }: SyntaxPath): boolean {
  return parentPath?.parent?.type === "ThrowStatement" || parent?.callee?.name?.endsWith("Error") === true;
}

function isText({ type }: SyntaxNode): boolean {
  return type === "StringLiteral" || type === "TemplateLiteral";
}

/** Whether this is `log.info(...)`, `this.#log.warn(...)`, `request.log.error(...)` or the like. */
function isLogCall({ type, callee }: SyntaxNode): boolean {
  if (type !== "CallExpression" || callee?.type !== "MemberExpression") return false;
  return LEVELS.includes(callee.property?.name ?? "") && nameOf(callee.object) === "log";
}

function nameOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type !== "MemberExpression") return node?.name;
  const { property } = node as { property?: SyntaxNode & { id?: SyntaxNode } };
  return property?.type === "PrivateName" ? property.id?.name : property?.name;
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "messages", { shouldIgnore })];
