import { createHash } from 'node:crypto';

import { once } from '../../platform/once.ts';
import { buildOpenApi } from '../openapi/openapi.ts';
import type { Section } from '../route/route.ts';
import { script } from './page-script.ts';
import { docsPage } from './page.ts';

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
        const json = once(() => pageOf('application/json', JSON.stringify(described())));
        const html = once(() =>
          pageOf('text/html', docsPage({ document: described(), links, baseUrl: publicUrl })),
        );
        return [[document, json] as const, [page, html] as const];
      }),
  );
}

function pageOf(type: string, content: string): Page {
  return { contentType: `${type}; charset=utf-8`, bytes: Buffer.from(content) };
}
