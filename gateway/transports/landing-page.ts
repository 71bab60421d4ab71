import type { RequestHandler } from 'express';

import { prefersHtml } from '../request/prefers-html.ts';

/** Options of the landing page. */
export interface LandingPageOptions {
  /** Path prefix of PUBLIC_URL, without a slash at its end. */
  readonly basePath: string;
  /** Embed Apollo Sandbox, which the browser loads from Apollo's servers; else the page links to the explorer only. */
  readonly embedSandbox: boolean;
}

/** Serves browsers that open /graphql: Apollo Sandbox, and a link to the explorer, which works offline. */
export function createLandingPage(options: LandingPageOptions): RequestHandler {
  const page = renderPage(options);
  return (request, response, next) => {
    const isBrowser =
      request.method === 'GET' && request.query['query'] === undefined && prefersHtml(request.headers.accept);
    if (!isBrowser) return next();
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    response.type('html').send(page);
  };
}

function renderPage({ basePath, embedSandbox }: LandingPageOptions): string {
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
      <a href="${explorer}">Open the built-in explorer</a>, which needs no internet.
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
      onerror="document.getElementById('note').textContent = 'Apollo Sandbox could not be loaded.'"
    ></script>
    <script>
      if (window.EmbeddedSandbox) {
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
