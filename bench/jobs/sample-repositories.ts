const shop = (prices: string) => ({
  "index.js": `const prices = ${prices};
export default {
  fetch({ url }) {
    return url.endsWith("/price") ? Response.json({ net: prices.EUR.net }) : new Response("Shop");
  },
};
`,
});

/** A shop whose second version fails, though not its health check. */
export const SHOP = { working: shop("{ EUR: { net: 10 } }"), broken: shop("{}") } as const;

const INVOICE_API = {
  openapi: "3.1.0",
  info: { title: "Invoices", version: "1.0.0" },
  paths: {
    "/invoices": {
      get: {
        operationId: "listInvoices",
        summary: "Lists invoices.",
        responses: { 200: { description: "The invoices" } },
      },
    },
    "/invoices/{number}/send": {
      post: {
        operationId: "sendInvoice",
        summary: "Sends an invoice to its customer by email.",
        parameters: [{ name: "number", in: "path", required: true, schema: { type: "integer" } }],
        responses: {
          200: { description: "The message", content: { "application/json": { schema: { type: "object" } } } },
        },
      },
    },
  },
};

/** An app that sends invoices, and needs a variable for it. */
export const INVOICES = {
  "openapi.json": JSON.stringify(INVOICE_API),
  "index.js": `export default {
  fetch(request, env) {
    const number = /^\\/invoices\\/(\\d+)\\/send$/.exec(new URL(request.url).pathname)?.[1];
    if (number === undefined) return Response.json([{ number: 7 }]);
    if (!env.MAIL_FROM) {
      console.error("Cannot send invoice " + number + ": the variable MAIL_FROM is not set");
      return Response.json({ error: "internal error" }, { status: 500 });
    }
    return Response.json({ number: Number(number), from: env.MAIL_FROM });
  },
};
`,
} as const;

/** An app that shows its variables. */
export const NEWSLETTER = {
  "index.js": `export default { fetch: (_request, env) => Response.json({ title: env.TITLE, hasKey: env.API_KEY === "k-123" }) };\n`,
} as const;
