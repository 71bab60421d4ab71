import { createHash } from 'node:crypto';

import type { RequestHandler } from 'express';

import { HOUSE_STYLE, houseBar } from '../../platform/pages/house-style.ts';
import { prefersHtml } from '../request/steps.ts';

/** Options of the landing page. */
export interface LandingPageOptions {
  /** Path prefix of PUBLIC_URL, without a slash at its end. */
  readonly basePath: string;
  /** Embed Apollo Sandbox, which the browser loads from Apollo's servers, and link to the pages of development; else neither. */
  readonly embedSandbox: boolean;
  /** Whether Kiln's own sandbox has its pages here. */
  readonly hasSandbox: boolean;
}

/** Serves browsers that open /graphql: Apollo Sandbox, and a link to the explorer, which works offline. */
export function createLandingPage(options: LandingPageOptions): RequestHandler {
  const page = renderPage(options);
  const policy = buildPolicy(page, options);
  return (request, response, next) => {
    const isBrowser =
      request.method === 'GET' && request.query['query'] === undefined && prefersHtml(request.headers.accept);
    if (!isBrowser) return next();
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    response.setHeader('Content-Security-Policy', policy);
    response.type('html').send(page);
  };
}

const APOLLO = 'https://embeddable-sandbox.cdn.apollographql.com https://sandbox.embed.apollographql.com';

/** Only the page's own inline parts run, by their hashes; with Apollo Sandbox its script and frame too. */
function buildPolicy(page: string, { embedSandbox }: LandingPageOptions): string {
  const listHashes = (tag: string) =>
    [...page.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
      ([, content = '']) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`,
    );
  const scripts = embedSandbox ? [...listHashes('script'), APOLLO] : ["'none'"];
  return [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    `style-src ${embedSandbox ? "'unsafe-inline'" : listHashes('style').join(' ')}`,
    ...(embedSandbox ? [`frame-src ${APOLLO}`, "connect-src 'self' ws: wss:", 'img-src data: https:'] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** What fills the page under the bar, unless Apollo Sandbox does. */
const STYLE = `${HOUSE_STYLE}
html,body{height:100%}body{display:flex;flex-direction:column}main{max-width:640px}pre{overflow-x:auto;padding:12px;border:1px solid var(--line);border-radius:6px;background:var(--surface)}
#sandbox:empty{display:none}#sandbox{flex:1}#sandbox iframe{width:100%;height:100%;border:0}#sandbox:not(:empty)+main{display:none}`;

function renderPage({ basePath, embedSandbox, hasSandbox }: LandingPageOptions): string {
  const ways = [
    [`${basePath}/explorer/`, 'Explorer', 'operations of this graph in the browser, without the internet'],
    [`${basePath}/console/`, 'Console', 'images, videos, tasks, keys and usage'],
    [`${basePath}/docs`, 'REST', 'the same as REST operations, which can be tried there'],
    ...(hasSandbox
      ? [[`${basePath}/sandbox`, 'Sandbox', 'what stands for the providers, and what it made']]
      : []),
  ];
  const list = ways.map(([href, name, what]) => `<li><a href="${href}">${name}</a>: ${what}</li>`).join('\n');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width,initial-scale=1" />
    <title>GraphQL · Kiln</title>
    <style>${STYLE}</style>
  </head>
  <body>
    ${houseBar('GraphQL', embedSandbox ? { href: `${basePath}/explorer/`, label: 'Explorer' } : undefined)}
    <div id="sandbox"></div>
    <main>
      <h1>This is the address of the graph</h1>
      <p>Requests are sent here by POST; subscriptions come as server-sent events, multipart or over graphql-ws at the same address.</p>
      <pre>POST ${basePath}/graphql
content-type: application/json

{"query": "{ models { name generator } }"}</pre>
      ${embedSandbox ? `<ul>${list}</ul>` : ''}
      ${embedSandbox ? '<p class="dim" id="note">Apollo Sandbox is loaded from Apollo.</p>' : ''}
    </main>
${embedSandbox ? sandboxScripts() : ''}  </body>
</html>
`;
}

function sandboxScripts(): string {
  return `    <script
      src="https://embeddable-sandbox.cdn.apollographql.com/_latest/embeddable-sandbox.umd.production.min.js"
    ></script>
    <script>
      if (!window.EmbeddedSandbox) {
        document.getElementById('note').textContent = 'Apollo Sandbox could not be loaded from here.';
      } else {
        new window.EmbeddedSandbox({
          target: '#sandbox',
          initialEndpoint: location.origin + location.pathname,
          initialSubscriptionEndpoint: location.origin.replace(/^http/, 'ws') + location.pathname,
          includeCookies: false,
          runTelemetry: false,
        });
      }
    </script>
`;
}
