import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-types.ts';

/** An OpenAPI document as one readable page: no script, no request to anywhere else. */

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
code{font:14px ui-monospace,monospace}h3 code{font-size:16px}table{border-collapse:collapse;width:100%}
td,th{border-top:1px solid #ddd;padding:.3rem .5rem;text-align:left;vertical-align:top}.old{color:#a40}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}td,th{border-color:#444}a{color:#8bf}.old{color:#fa6}}`;

/** The page; `documentUrl` is where the document itself is, relative to the page. */
export function docsPage(document: OpenApiDocument, documentUrl: string): string {
  const { title, version, description } = document.info;
  const sections = document.tags.map(({ name }) => section(name, document));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${style}</style></head><body>
<h1>${escape(title)}</h1><p>${escape(description)} Version ${escape(version)};
<a href="${escape(documentUrl)}">OpenAPI document</a>.</p>
${sections.join('\n')}</body></html>`;
}

function section(tag: string, { paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => describe(`${method.toUpperCase()} ${path}`, operation)),
  );
  return `<h2>${escape(tag)}</h2>${operations.join('')}`;
}

function describe(heading: string, operation: OpenApiOperation): string {
  const rows = [
    ...(operation.parameters ?? []).map(({ name, in: place, required, schema }) =>
      row(name, place, { needed: required ? 'yes' : 'no', schema }),
    ),
    ...bodyRows(operation),
  ];
  const old = operation.deprecated === true ? ' <small class="old">deprecated</small>' : '';
  const table = `<table><tr><th>name<th>in<th>type<th>required</tr>${rows.join('')}</table>`;
  return `<h3 id="${escape(operation.operationId)}"><code>${escape(heading)}</code>${old}</h3>${rows.length === 0 ? '<p>No inputs.</p>' : table}`;
}

function bodyRows({ requestBody }: OpenApiOperation): readonly string[] {
  return Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const fields = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
    return fields.map(([name, field]) =>
      row(name, type, { needed: neededness(name, schema), schema: field }),
    );
  });
}

/** Whether a field of a body is needed, or one of a group that it is in. */
function neededness(name: string, { required, allOf }: JsonSchema): string {
  if (((required ?? []) as readonly string[]).includes(name)) return 'yes';
  const groups = (allOf ?? []) as readonly { anyOf: readonly { required: readonly string[] }[] }[];
  const group = groups
    .map(({ anyOf }) => anyOf.flatMap((one) => one.required))
    .find((names) => names.includes(name));
  return group === undefined ? 'no' : `one of ${group.join(', ')}`;
}

interface Field {
  /** In words. */
  readonly needed: string;
  readonly schema: JsonSchema;
}

function row(name: string, place: string, { needed, schema }: Field): string {
  const { type, contentMediaType, ...rest } = schema;
  const held = contentMediaType === 'application/json' ? 'JSON text' : 'file';
  const kind = contentMediaType === undefined ? String(type) : held;
  const facts = Object.entries(rest).map(([keyword, value]) => `${keyword} ${JSON.stringify(value)}`);
  const cells = [
    `<code>${escape(name)}</code>`,
    escape(place),
    escape([kind, ...facts].join(', ')),
    escape(needed),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
