import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { messagePage } from './message-page.ts';

const computeHash = (html: string, tag: string): string =>
  createHash('sha256')
    .update(new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? 'none')
    .digest('base64');

it('a page with a message shows what a caller sent as text, and runs nothing', () => {
  const { html, contentSecurityPolicy } = messagePage({ title: `<b>&"'`, text: '<script>1 > 0</script>' });
  expect(html).toContain('<title>&lt;b&gt;&amp;&quot;&#39; · Kiln</title>');
  expect(html).toContain(
    '<h1>&lt;b&gt;&amp;&quot;&#39;</h1>\n<p>&lt;script&gt;1 &gt; 0&lt;/script&gt;</p>\n</main>',
  );
  expect(html).not.toMatch(/<script|<a href="x/);
  expect(contentSecurityPolicy).toBe(
    `default-src 'none'; style-src 'sha256-${computeHash(html, 'style')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
});

it('a page with a message leads on where there is a way', () => {
  const link = { href: '/x?a="1"&b', label: 'A & B' };
  expect(messagePage({ title: 't', text: 'u', link }).html).toContain(
    '<p>u</p>\n<p><a href="/x?a=&quot;1&quot;&amp;b">A &amp; B</a></p>\n</main>',
  );
});

it('a page with a message is loaded again by the only script that its policy lets run', () => {
  const { html, contentSecurityPolicy } = messagePage({ title: 't', text: 'u', refreshSeconds: 3 });
  expect(html).toContain('<script>setTimeout(() => location.reload(), 3000);</script>');
  expect(html).toContain('<noscript><meta http-equiv="refresh" content="3" /></noscript>');
  expect(contentSecurityPolicy).toContain(`; script-src 'sha256-${computeHash(html, 'script')}'; style-src `);
});
