import { z } from "zod";
import type { Download } from "../domain/exports/export-app.ts";
import type { ImportedApp } from "../domain/exports/import-app.ts";
import { appId, deployResponse } from "./apps.schema.ts";
import { streamedFile } from "./core/common.schema.ts";

export const exportAppRequest = appId.extend({
  variables: z
    .boolean()
    .optional()
    .meta({ description: "Whether the export has the values of variables that are not secret; not by default" }),
});

/** The body of the response. */
export const exportAppResponse = z.custom<Download>().meta({ override: { type: "string", format: "binary" } });

export const importAppRequest = z.strictObject({
  file: streamedFile("An export of an app"),
  name: z.string().optional().meta({ description: "The name of the new app. By default that of the exported one" }),
});

export const importAppResponse = deployResponse
  .extend({
    missing_variables: z
      .array(z.string())
      .meta({ description: "The variables of the exported app whose values are not in the export" }),
    warnings: z.array(z.string()).meta({ description: "What the export lacks, or may have inconsistent" }),
  })
  .meta({ id: "ImportedApp" }) satisfies z.ZodType<ImportedApp>;
