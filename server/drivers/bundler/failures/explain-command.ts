import { BuildFailure } from "../../../../domain/shared/errors.ts";

/** What shells and `env` print of a command that does not exist: dash, bash, Bun and Yarn, `env`. */
const NOT_FOUND: readonly RegExp[] = [
  /(?:^|\s)(?:\/(?:usr\/)?bin\/)?(?:sh|bash): (?:line )?(?:\d+: )?([\w@./-]{1,100}): (?:command )?not found$/,
  /\bcommand not found: ([\w@./-]{1,100})/,
  /(?:^|[\s/])env: ['‘"]?([\w@./-]{1,100})['’"]?: No such file or directory$/,
];

const PROGRAMS_OF_OTHER_LANGUAGES =
  /^(hugo|zola|jekyll|bundle|ruby|rake|python3?|pip3?|uv|poetry|php|composer|go|cargo|rustc|wasm-pack|java|mvn|gradle|dotnet|mix|make|cmake|docker|jq|zip|rsync|pandoc|pwsh|sudo|brew)$/;

/** The packages of commands that have another name. */
const PACKAGES: Readonly<Record<string, string>> = {
  babel: "@babel/cli",
  biome: "@biomejs/biome",
  cap: "@capacitor/cli",
  changeset: "@changesets/cli",
  cleancss: "clean-css-cli",
  docusaurus: "@docusaurus/core",
  dotenv: "dotenv-cli",
  eleventy: "@11ty/eleventy",
  ember: "ember-cli",
  "graphql-codegen": "@graphql-codegen/cli",
  grunt: "grunt-cli",
  nest: "@nestjs/cli",
  ng: "@angular/cli",
  "opennextjs-cloudflare": "@opennextjs/cloudflare",
  panda: "@pandacss/dev",
  "paraglide-js": "@inlang/paraglide-js",
  postcss: "postcss-cli",
  "react-router": "@react-router/dev",
  redocly: "@redocly/cli",
  remix: "@remix-run/dev",
  rsbuild: "@rsbuild/core",
  rspack: "@rspack/cli",
  "run-p": "npm-run-all",
  "run-s": "npm-run-all",
  slidev: "@slidev/cli",
  strapi: "@strapi/strapi",
  "svelte-kit": "@sveltejs/kit",
  swc: "@swc/cli",
  tailwindcss: "@tailwindcss/cli",
  tsc: "typescript",
  uglifyjs: "uglify-js",
  "vue-cli-service": "@vue/cli-service",
  webpack: "webpack-cli",
};

/**
 * Says which command does not exist, and in which package it usually is.
 *
 * @param subject - what runs the command
 * @returns `null` if no line names such a command
 */
export function explainMissingCommand(subject: string, lines: readonly string[]): BuildFailure | null {
  const command = lines.flatMap((line) => NOT_FOUND.map((pattern) => pattern.exec(line)?.[1])).find(Boolean);
  if (command === undefined) return null;
  if (PROGRAMS_OF_OTHER_LANGUAGES.test(command))
    return new BuildFailure(
      "user",
      `${subject} runs "${command}". Builds have Node.js and the programs of npm packages only.`,
      "Run this program before you commit, and commit what it writes. Or use a tool from an npm package instead.",
    );
  return new BuildFailure(
    "user",
    `${subject} runs the command "${command}", which is not installed.`,
    adviseOn(command),
  );
}

function adviseOn(command: string): string {
  if (/[./]/.test(command)) return "Correct the path in the command, or commit the file, and deploy again.";
  const name = Object.hasOwn(PACKAGES, command) ? PACKAGES[command] : command;
  return `This command is usually in the npm package ${name}. Add it to devDependencies in package.json (npm install --save-dev ${name}), commit the lockfile too, and deploy again.`;
}
