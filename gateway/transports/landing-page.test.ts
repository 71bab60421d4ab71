import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createLandingPage, type LandingPageOptions } from './landing-page.ts';

/** What whoever opens /graphql gets: null is an answer of the API. */
function opened(
  request: { readonly method?: string; readonly query?: object; readonly accept?: string } = {},
  options: Partial<LandingPageOptions> = {},
) {
  const headers: Record<string, string> = {};
  let page = '';
  let isNext = false;
  const { method = 'GET', query = {}, accept = 'text/html' } = request;
  const response = {
    setHeader: (name: string, value: string) => void (headers[name] = value),
    type: (type: string) => ((headers['type'] = type), response),
    send: (sent: string) => void (page = sent),
  };
  const handle = createLandingPage({ basePath: '/kiln', embedSandbox: true, hasSandbox: true, ...options });
  void handle({ method, query, headers: { accept } } as never, response as never, () => (isNext = true));
  expect(isNext).toBe(page === '');
  return page === '' ? null : { page, headers, policy: headers['Content-Security-Policy'] ?? '' };
}

const computeHashes = (page: string, tag: string): readonly string[] =>
  [...page.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
    ([, content = '']) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`,
  );

describe('the page at /graphql', () => {
  it('is for browsers that open it', () => {
    expect(opened()?.headers).toMatchObject({ type: 'html', 'X-Frame-Options': 'SAMEORIGIN' });
    for (const request of [{ method: 'POST' }, { query: { query: '{ a }' } }, { accept: 'application/json' }])
      expect(opened(request)).toBeNull();
    expect(opened({ query: { x: '1' } })).not.toBeNull();
  });

  it('embeds Apollo Sandbox in development, and leads to the other pages', () => {
    const { page = '', policy } = opened() ?? {};
    expect([...page.matchAll(/<li><a href="([^"]*)">([^<]*)<\/a>/g)].map(([, ...way]) => way)).toEqual([
      ['/kiln/explorer/', 'Explorer'],
      ['/kiln/console/', 'Console'],
      ['/kiln/docs', 'REST'],
      ['/kiln/sandbox', 'Sandbox'],
    ]);
    expect(page).toContain('POST /kiln/graphql');
    expect(page).toMatch(/id="note"[^]*initialEndpoint: location.origin \+ location.pathname/);
    expect(page.match(/href="\/kiln\/explorer\/"/g)).toHaveLength(2);
    const apollo = 'https://embeddable-sandbox.cdn.apollographql.com https://sandbox.embed.apollographql.com';
    const scripts = computeHashes(page, 'script');
    expect(scripts).toHaveLength(1);
    expect(policy).toBe(
      [
        "default-src 'none'",
        `script-src ${scripts.join(' ')} ${apollo}`,
        "style-src 'unsafe-inline'",
        `frame-src ${apollo}`,
        "connect-src 'self' ws: wss:",
        'img-src data: https:',
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
      ].join('; '),
    );
  });

  it('is text alone in production, and names no sandbox where there is none', () => {
    const { page = '', policy } = opened({}, { embedSandbox: false }) ?? {};
    expect(page).toContain('POST /kiln/graphql');
    expect(page).not.toMatch(/<script|<li>|id="note"|href="\/kiln\/explorer/);
    expect(policy).toBe(
      `default-src 'none'; script-src 'none'; style-src ${computeHashes(page, 'style').join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
    );
    expect(opened({}, { hasSandbox: false })?.page).not.toContain('/kiln/sandbox');
  });
});
