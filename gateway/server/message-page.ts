import { createHash } from 'node:crypto';

import { HOUSE_STYLE, houseBar } from '../../platform/pages/house-style.ts';

/** A page with one message, for browsers that reach something that is not there (yet). */
export interface MessagePage {
  readonly html: string;
  /** Allows this page's style and, if it refreshes, its script; nothing else. */
  readonly contentSecurityPolicy: string;
}

const STYLE = `${HOUSE_STYLE}main{text-align:center;padding-top:20vh}`;
const STYLE_HASH = hashText(STYLE);

/** Renders a message page. Title and text may hold what the caller sent: they are escaped. */
export function messagePage(message: {
  readonly title: string;
  readonly text: string;
  readonly refreshSeconds?: number;
  readonly link?: { readonly href: string; readonly label: string };
}): MessagePage {
  const { title, text, refreshSeconds, link } = message;
  const refresh = refreshSeconds === undefined ? null : refreshAfter(refreshSeconds);
  const linkHtml =
    link === undefined ? '' : `\n<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.label)}</a></p>`;
  return {
    contentSecurityPolicy: `default-src 'none'; ${refresh?.policy ?? ''}style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width,initial-scale=1" />
${refresh?.html ?? ''}<title>${escapeHtml(title)} · Kiln</title>
<style>${STYLE}</style>
</head>
<body>${houseBar('Kiln')}<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>${linkHtml}
</main></body>
</html>
`,
  };
}

/** Loads the page again. A script does: a refresh without one stays where it is when the address has a fragment, such as a login code. */
function refreshAfter(seconds: number): { readonly html: string; readonly policy: string } {
  const script = `setTimeout(() => location.reload(), ${seconds * 1_000});`;
  return {
    html: `<script>${script}</script>\n<noscript><meta http-equiv="refresh" content="${seconds}" /></noscript>\n`,
    policy: `script-src 'sha256-${hashText(script)}'; `,
  };
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
