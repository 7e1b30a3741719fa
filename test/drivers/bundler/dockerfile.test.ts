import { expect, test } from "vitest";
import { readDockerfileCopies } from "../../../server/drivers/bundler/inside/node-server/dockerfile.ts";

const copiesOf = (...instructions: string[]) =>
  readDockerfileCopies(
    ["FROM node AS base", "WORKDIR /app", "FROM base AS builder", "FROM base", ...instructions].join("\n"),
  );

test.each([
  ["COPY --from=builder /app/database ./database", [{ from: "database", to: "database" }]],
  ["copy --link --from=builder --chown=1:1 /app/prisma/ prisma", [{ from: "prisma", to: "prisma" }]],
  ["COPY --from=1 content ./content", [{ from: "content", to: "content" }]],
  ["COPY --from=builder /app/messages/en.json ./messages/", [{ from: "messages/en.json", to: "messages/en.json" }]],
  [
    "COPY --from=builder /app/a.json /app/b.json ./",
    [
      { from: "a.json", to: "a.json" },
      { from: "b.json", to: "b.json" },
    ],
  ],
  ["COPY --from=builder /app/i18n /app/locales", [{ from: "i18n", to: "locales" }]],
])("%s names files of the build", (instruction, copies) => {
  expect(copiesOf(instruction)).toEqual(copies);
});

test.each([
  ["all of the build", "COPY --from=builder /app ."],
  ["a file outside of its folder", "COPY --from=builder /etc/passwd ./passwd"],
  ["a target outside of the folder of the server", "COPY --from=builder /app/a /b"],
  ["a path with two dots", "COPY --from=builder ../../a ./a"],
  ["a variable", "COPY --from=builder $HOME/a ./a"],
  ["a pattern", "COPY --from=builder /app/*.json ./"],
  ["an image", "COPY --from=nginx:1 /app/a ./a"],
  ["a file of the repository", "COPY a ./a"],
  ["no target", "COPY --from=builder"],
  ["a comment", "# COPY --from=builder /app/a ./a"],
])("an instruction with %s names no file", (_what, instruction) => {
  expect(copiesOf(instruction)).toEqual([]);
});

test("only the last stage counts, and an instruction may have several lines", () => {
  const copies = copiesOf(
    "COPY --from=builder /app/a ./a",
    "FROM base",
    "WORKDIR web",
    "COPY --from=builder \\",
    "  # b",
    "  /app/b ./b",
  );
  expect(copies).toEqual([{ from: "b", to: "b" }]);
});
