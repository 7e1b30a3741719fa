import { expect, test } from "vitest";
import { markForgedLines } from "../../../domain/shared/log-line-prefix.ts";

test.each([
  "[service] built",
  "\t \u00a0[service] built",
  "\u200b\u2028[service] built",
  `${" ".repeat(64)}[service] built`,
])("the line %j looks like one of the service and is marked", (line) => {
  expect(markForgedLines(`first\n${line}\nlast`)).toBe("first\n> [service] built\nlast");
  expect(markForgedLines(`${line}\n${line}`)).toBe("> [service] built\n> [service] built");
});

test.each(["a [service] built", "x[service]", "[servic]", "> [service] built"])(
  "the line %j does not begin like one of the service and is kept",
  (line) => {
    expect(markForgedLines(`first\n${line}`)).toBe(`first\n${line}`);
  },
);
