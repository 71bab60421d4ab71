import { createHash } from 'node:crypto';

import type { RequestHandler } from 'express';

import { prefersHtml } from '../request/prefers-html.ts';

/** Options of the landing page. */
export interface LandingPageOptions {
  /** Path prefix of PUBLIC_URL, without a slash at its end. */
  readonly basePath: string;
  /** Embed Apollo Sandbox, which the browser loads from Apollo's servers; else the page links to the explorer only. */
  readonly embedSandbox: boolean;
  /** Whether Kiln's own sandbox has its pages here. */
  readonly hasSandbox: boolean;
}

/** Serves browsers that open /graphql: Apollo Sandbox, and a link to the explorer, which works offline. */
export function createLandingPage(options: LandingPageOptions): RequestHandler {
  const page = renderPage(options);
  const policy = policyOf(page, options);
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
function policyOf(page: string, { embedSandbox }: LandingPageOptions): string {
  const hashesOf = (tag: string) =>
    [...page.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
      ([, content = '']) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`,
    );
  const scripts = embedSandbox ? [...hashesOf('script'), APOLLO] : ["'none'"];
  return [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    `style-src ${embedSandbox ? "'unsafe-inline'" : hashesOf('style').join(' ')}`,
    ...(embedSandbox ? [`frame-src ${APOLLO}`, "connect-src 'self' ws: wss:", 'img-src data: https:'] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

function renderPage({ basePath, embedSandbox, hasSandbox }: LandingPageOptions): string {
  const explorer = `${basePath}/explorer/`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width,initial-scale=1" />
    <title>Kiln GraphQL</title>
    <style>
      html, body { height: 100%; margin: 0; font: 15px/1.5 system-ui, sans-serif; }
      body { display: flex; flex-direction: column; }
      header { padding: 8px 16px; background: #1c1d26; color: #fff; }
      a { color: #8ab4ff; }
      #sandbox { flex: 1; }
      #sandbox iframe { width: 100%; height: 100%; border: 0; }
    </style>
  </head>
  <body>
    <header>
      This is Kiln's GraphQL endpoint.
      ${embedSandbox ? `<a href="${explorer}">Open the built-in explorer</a>, which needs no internet.` : ''}
      ${hasSandbox ? `<a href="${basePath}/sandbox">What Kiln's own sandbox made.</a>` : ''}
      <span id="note">${embedSandbox ? 'Below: Apollo Sandbox, loaded from Apollo.' : ''}</span>
    </header>
    <div id="sandbox"></div>
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
        document.getElementById('note').textContent = 'Apollo Sandbox could not be loaded.';
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
