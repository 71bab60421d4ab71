import { createHash } from 'node:crypto';

import { once } from '../../platform/once.ts';
import { houseBar } from '../../platform/pages/house-style.ts';
import { buildOpenApi } from '../openapi/openapi.ts';
import type { Section } from '../route/route.ts';
import type { OpenApiDocument } from '../schemas/openapi-types.ts';
import type { PlacedOperation } from './example.ts';
import { code, escape, style, script } from './html.ts';
import { describeOperation, linkedNotation, toTitle } from './operation.ts';
import { notation } from './schema.ts';

/** A page or document, ready to be sent. */
export interface Page {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** What the pages may do: their own script and styles, and requests to this server. */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Paths of each service's OpenAPI document and of the page about it; the links are relative to the page. */
const served = [
  {
    service: 'media',
    document: '/openapi.json',
    page: '/docs',
    links: {
      root: '.',
      document: 'openapi.json',
      other: { href: 'docs/workflow', text: 'Payments and templates' },
    },
  },
  {
    service: 'workflow',
    document: '/openapi-workflow.json',
    page: '/docs/workflow',
    links: { root: '..', document: '../openapi-workflow.json', other: { href: '../docs', text: 'Media' } },
  },
] as const;

/** The OpenAPI documents of these sections and the pages about them, by path; each is made when it is first asked for. */
export function createPages(
  publicUrl: string,
  sections: readonly Section[],
): ReadonlyMap<string, () => Page> {
  return new Map(
    served
      .filter(({ service }) => sections.some((section) => section.service === service))
      .flatMap(({ service, document, page, links }) => {
        const described = once(() => ({
          ...buildOpenApi(service, sections),
          servers: [{ url: publicUrl }],
        }));
        const json = once(() => createPage('application/json', JSON.stringify(described())));
        const html = once(() =>
          createPage('text/html', docsPage({ document: described(), links, baseUrl: publicUrl })),
        );
        return [[document, json] as const, [page, html] as const];
      }),
  );
}

function createPage(type: string, content: string): Page {
  return { contentType: `${type}; charset=utf-8`, bytes: Buffer.from(content) };
}

/** An OpenAPI document as one HTML page, whose only script is inline and whose only requests are those that its reader sends. */

interface DocsPageOptions {
  readonly document: OpenApiDocument;
  /** Addresses of the document and of the other service's page, relative to this page. */
  readonly links: {
    /** The address that paths of operations are below. */
    readonly root: string;
    readonly document: string;
    readonly other: { readonly href: string; readonly text: string };
  };
  /** Base address of the examples. */
  readonly baseUrl: string;
}

/** The HTML of the page. */
export function docsPage({ document, links, baseUrl }: DocsPageOptions): string {
  const { title, version, description } = document.info;
  const sections = document.tags.map(({ name }) => ({ name, operations: listOperations(name, document) }));
  const count = sections.reduce((sum, { operations }) => sum + operations.length, 0);
  const contents = sections.map(({ name, operations }) => renderContents(name, operations));
  const chapters = sections.map(({ name, operations }) => chapter(name, operations, baseUrl));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(title)}</title><style>${style}</style></head><body data-root="${escape(links.root)}"><a class="skip" href="#operations">To the operations</a>${houseBar('Kiln', { href: `${links.root}/console/`, label: 'Console' })}
<div class="frame"><nav aria-label="Operations"><label class="search">Search <input type="search" id="search" placeholder="voice, status, /api/comfy"></label> <span id="found" class="dim" role="status"></span>${contents.join('')}<ul><li><a href="#responses">Responses of every operation</a></li><li><a href="#schemas">Schemas</a></li></ul></nav>
<div><header><h1>${escape(title)}</h1><p>${escape(description)} Version ${escape(version)}, ${count} operations.
<a href="${escape(links.document)}">OpenAPI document</a>, <a href="${escape(links.other.href)}">${escape(links.other.text)}</a>.</p>
<p>A credential, where one is needed, goes into the header ${code('Authorization: Bearer ...')}.</p>
<p><label class="search">Credential for requests of this page <input id="credential" autocomplete="off" spellcheck="false"></label></p></header>
<main id="operations">${chapters.join('\n')}
${sharedResponses(document)}
${allSchemas(document)}</main></div></div><script>${script}</script></body></html>`;
}

function listOperations(tag: string, { paths }: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function toAnchor(tag: string): string {
  return `section-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}

function renderContents(name: string, operations: readonly PlacedOperation[]): string {
  const entries = operations.map(
    (placed) => `<li><a href="#${escape(placed.operation.operationId)}">${toTitle(placed)}</a></li>`,
  );
  return `<details><summary>${escape(name)} <span class="dim">${operations.length}</span></summary><ul>${entries.join('')}</ul></details>`;
}

function chapter(name: string, operations: readonly PlacedOperation[], baseUrl: string): string {
  const described = operations.map((placed) => describeOperation(placed, baseUrl));
  return `<section aria-labelledby="${toAnchor(name)}"><h2 id="${toAnchor(name)}">${escape(name)}</h2>${described.join('')}</section>`;
}

function sharedResponses({ paths, components }: OpenApiDocument): string {
  const statuses = new Map(
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.entries(responses))
      .flatMap(([status, response]) =>
        '$ref' in response ? [[response.$ref.split('/').at(-1), status]] : [],
      ),
  );
  const rows = Object.entries(components.responses).map(([name, { description, content }]) => {
    const schema = content?.['application/json']?.schema;
    const form = schema === undefined ? '' : linkedNotation(notation(schema));
    return `<tr id="response-${name}"><th scope="row">${statuses.get(name) ?? ''}</th><td>${escape(description)}</td><td>${form}</td></tr>`;
  });
  return `<section aria-labelledby="responses"><h2 id="responses">Responses of every operation</h2><div class="wide" tabindex="0" role="region" aria-label="Responses"><table><thead><tr><th scope="col">status</th><th scope="col">meaning</th><th scope="col">schema</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`;
}

function allSchemas({ components }: OpenApiDocument): string {
  const entries = Object.entries(components.schemas).map(([name, schema]) => {
    const { description } = schema;
    const text = typeof description === 'string' ? `<p>${escape(description)}</p>` : '';
    return `<article id="schema-${name}"><h3>${code(name)}</h3>${text}<pre tabindex="0">${linkedNotation(notation(schema))}</pre></article>`;
  });
  return `<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>${entries.join('')}</section>`;
}
