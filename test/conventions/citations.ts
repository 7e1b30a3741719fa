import { type Argument, type CallExpression, type Expression, parseSync, Visitor } from "oxc-parser";

/** One id that a call of `verifies` cites: the id of a requirement, or `hazard.41`. */
export interface Citation {
  id: string;
  file: string;
  line: number;
  /** Whether the test, or a suite around it, is unconditionally marked `skip` or `todo`. */
  skipped: boolean;
}

/** The citations of a source file. */
export interface Citations {
  found: Citation[];
  /** The places of citations that are not literals, as `file:line`. */
  unreadable: string[];
}

/**
 * Reads the citations of every `verifies(...)` call: string literals and `hazard(<number>)`, alone or in an array.
 *
 * @throws when the source text is not valid TypeScript
 */
export function readCitations(file: string, source: string): Citations {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);

  const citations: Citations = { found: [], unreadable: [] };
  let skippingCalls = 0;
  new Visitor({
    CallExpression(call) {
      if (marksSkipped(call)) skippingCalls++;
      for (const cited of citationExpressions(call)) {
        const line = source.slice(0, cited.start).split("\n").length;
        const id = literalId(cited);
        if (id === null) citations.unreadable.push(`${file}:${line}`);
        else citations.found.push({ id, file, line, skipped: skippingCalls > 0 });
      }
    },
    "CallExpression:exit"(call) {
      if (marksSkipped(call)) skippingCalls--;
    },
  }).visit(program);
  return citations;
}

/** Returns the first argument of a `verifies` call, or its elements. Returns nothing for any other call. */
function citationExpressions(call: CallExpression): (Argument | CallExpression)[] {
  if (!isCallOf(call, "verifies")) return [];
  const [first] = call.arguments;
  if (first === undefined) return [call];
  const ids = withoutTypes(first);
  return ids.type === "ArrayExpression" ? ids.elements.filter((element) => element !== null) : [ids];
}

function literalId(expression: Argument): string | null {
  const cited = withoutTypes(expression);
  if (cited.type === "Literal" && typeof cited.value === "string") return cited.value;
  if (cited.type !== "CallExpression" || !isCallOf(cited, "hazard")) return null;
  const [number] = cited.arguments;
  return number?.type === "Literal" && typeof number.value === "number" ? `hazard.${number.value}` : null;
}

function withoutTypes(expression: Argument): Argument {
  const hasTypeCast = expression.type === "TSAsExpression" || expression.type === "TSSatisfiesExpression";
  return hasTypeCast ? withoutTypes(expression.expression) : expression;
}

function isCallOf({ callee }: CallExpression, name: string): boolean {
  return callee.type === "Identifier" && callee.name === name;
}

/** Matches `describe.skip(...)`, `describe.todo.each(...)(...)`, and options with `skip: true` or `todo: true`. */
function marksSkipped(call: CallExpression): boolean {
  return isSkippingCallee(call.callee) || call.arguments.some(hasSkippingOption);
}

function isSkippingCallee(callee: Expression): boolean {
  if (callee.type === "CallExpression") return isSkippingCallee(callee.callee);
  if (callee.type !== "MemberExpression") return false;
  return isSkippingName(callee.property) || isSkippingCallee(callee.object);
}

function hasSkippingOption(argument: Argument): boolean {
  if (argument.type !== "ObjectExpression") return false;
  return argument.properties.some(
    (property) =>
      property.type === "Property" &&
      isSkippingName(property.key) &&
      property.value.type === "Literal" &&
      property.value.value !== false,
  );
}

function isSkippingName(node: { type: string; name?: unknown }): boolean {
  return node.type === "Identifier" && (node.name === "skip" || node.name === "todo");
}
