import type { IncomingMessage, ServerResponse } from 'node:http';

import { HOUSE_ICON, HOUSE_STYLE, houseBar } from '../platform/pages/house-style.ts';
import type { Wire } from './http/wire.ts';
import type { Job, ResultFile } from './jobs/job.ts';
import type { Journal } from './jobs/journal.ts';

export interface StatusPageOptions {
  readonly wires: readonly Wire[];
  readonly journal: Journal;
}

const SHOWN_JOBS = 50;
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

type Serve = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void;

/** The status page, mounted by the gateway: the stand-ins, their last jobs and what these made. Read-only. */
export function createStatusPage(options: StatusPageOptions): Serve {
  return (request, response, next) => {
    // Empty for an address that is none, such as one with an impossible port.
    const pathname = URL.parse(request.url ?? '/', 'http://sandbox')?.pathname ?? '';
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && /^(\/sandbox\/?|\/)$/.test(pathname)) {
      // Relative, as PUBLIC_URL may have a path prefix.
      const results = pathname.endsWith('/') ? 'results' : 'sandbox/results';
      // Alone, the sandbox has no console.
      const back = pathname.startsWith('/sandbox') ? `${pathname.endsWith('/') ? '../' : ''}console/` : null;
      return sendHtml(response, 200, pageHtml(options, { results, back }));
    }
    const isSmall = request.url?.endsWith('?small') === true;
    const name = /^(?:\/sandbox)?\/results\/([\w-]+\.\w+)$/.exec(pathname)?.[1];
    if (isRead && name !== undefined) {
      sendResult(response, { name, isSmall }, options).catch((error: unknown) => {
        if (next === undefined) response.destroy();
        else next(error);
      });
      return;
    }
    if (next === undefined) sendHtml(response, 404, '<!doctype html><title>Not found</title>Not found');
    else next();
  };
}

function sendHtml(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
  });
  response.end(html);
}

/** One file that a job made. */
async function sendResult(
  response: ServerResponse,
  { name, isSmall }: { readonly name: string; readonly isSmall: boolean },
  { journal }: StatusPageOptions,
): Promise<void> {
  const file = lastJobs(journal)
    .flatMap((job) => job.result?.files ?? [])
    .find((one) => one.name === name);
  const bytes = file === undefined ? null : await journal.readImage(name);
  if (file === undefined || bytes === null) {
    return sendHtml(response, 404, '<!doctype html><title>Not found</title>Not found');
  }
  const small =
    isSmall && bytes.length > LEAST && file.contentType.startsWith('image/') ? await smallImage(bytes) : null;
  response.writeHead(200, {
    'content-type': small === null ? file.contentType : 'image/webp',
    'content-length': (small ?? bytes).length,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  response.end(small ?? bytes);
}

/** Bytes from which an image is made smaller for the page. */
const LEAST = 60_000;
/** Pixels of the longer edge of what the page shows. */
const SMALL = 480;

/** An image as the page shows it: those that are made take two megabytes each. Null for one that can not be read. */
async function smallImage(bytes: Uint8Array): Promise<Buffer | null> {
  // Loaded by the first look at the page: a start does not wait for it.
  const { createCanvas, loadImage } = await import('@napi-rs/canvas');
  const image = await loadImage(bytes).catch(() => null);
  if (image === null) return null;
  const scale = Math.min(1, SMALL / Math.max(image.width, image.height));
  const canvas = createCanvas(Math.round(image.width * scale), Math.round(image.height * scale));
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.encode('webp', 80);
}

function lastJobs(journal: Journal): readonly Job[] {
  return journal.all().slice(-SHOWN_JOBS).toReversed();
}

const STYLE = `${HOUSE_STYLE}
main{max-width:1440px}.jobs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,240px),1fr));gap:16px;padding:0;list-style:none}
.jobs>li{background:var(--surface);border:1px solid var(--line);border-radius:12px;padding:12px}.jobs p{margin:4px 0}
img,video{width:100%;aspect-ratio:4/3;object-fit:contain;border-radius:8px;background:var(--bg)}audio{width:100%}`;

interface Places {
  /** Where results are, relative to the page. */
  readonly results: string;
  /** The way back to the console; null where there is none. */
  readonly back: string | null;
}

function pageHtml({ wires, journal }: StatusPageOptions, { results, back }: Places): string {
  const jobs = lastJobs(journal);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Kiln sandbox</title>${HOUSE_ICON}<style>${STYLE}</style></head><body>${houseBar('Kiln sandbox', back === null ? undefined : { href: back, label: 'Console' })}<main>
<h1>Kiln sandbox</h1>
<p>Stand-ins of the outside world. They speak the real wire protocols and make real media on this machine
(engine: local-procedural); no account or key is used, and nothing leaves this machine.</p>
<h2>Last jobs</h2>${jobs.length === 0 ? '<p>None yet.</p>' : `<ul class="jobs">${jobs.map((job) => jobHtml(job, results)).join('')}</ul>`}
<h2>Stand-ins</h2><ul>${wires.map(wireHtml).join('')}</ul></main></body></html>`;
}

function wireHtml(wire: Wire): string {
  const operations = [...new Set(wire.routes.map((route) => route.operation))];
  return `<li><b>${escape(wire.name)}</b>: ${escape(operations.join(', '))}</li>`;
}

function jobHtml(job: Job, results: string): string {
  const prompt = typeof job.input['prompt'] === 'string' ? job.input['prompt'].slice(0, 300) : '';
  const [file] = job.result?.files ?? [];
  return `<li>${file === undefined ? '' : fileHtml(file, `${results}/${file.name}`, prompt)}<p><b>${escape(job.wire)}</b> ${escape(job.operation)}: ${job.state}</p>
<p>${escape(prompt)}</p><p class="dim">${new Date(job.submittedAt).toISOString()}</p></li>`;
}

/** What a job made first, as a browser shows it. */
function fileHtml({ contentType }: ResultFile, address: string, prompt: string): string {
  if (contentType.startsWith('image/')) {
    return `<img src="${escape(address)}?small" alt="${escape(prompt)}" loading="lazy">`;
  }
  const [kind] = contentType.split('/');
  if (kind !== 'video' && kind !== 'audio') return '';
  return `<${kind} src="${escape(address)}" controls preload="none"></${kind}>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
