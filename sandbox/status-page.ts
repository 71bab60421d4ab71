import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Wire } from './http/wire.ts';
import type { Job } from './jobs/job.ts';
import type { Journal } from './jobs/journal.ts';

export interface StatusPageOptions {
  readonly wires: readonly Wire[];
  readonly journal: Journal;
}

const SHOWN_JOBS = 50;

/** The status page, mounted by the gateway: the stand-ins and their last jobs. Read-only. */
export function createStatusPage(
  options: StatusPageOptions,
): (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void {
  return (request, response, next) => {
    const { pathname } = new URL(request.url ?? '/', 'http://sandbox');
    const isHere =
      /^(\/sandbox)?\/?$/.test(pathname) && (request.method === 'GET' || request.method === 'HEAD');
    if (!isHere && next !== undefined) return next();
    response.writeHead(isHere ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'cache-control': 'no-store',
    });
    response.end(isHere ? pageHtml(options) : '<!doctype html><title>Not found</title>Not found');
  };
}

function pageHtml({ wires, journal }: StatusPageOptions): string {
  const jobs = journal.all().slice(-SHOWN_JOBS).toReversed();
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Kiln sandbox</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ddd}
td:last-child{max-width:24rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}</style>
<h1>Kiln sandbox</h1>
<p>Stand-ins of the outside world. They speak the real wire protocols and make real media on this machine
(engine: local-procedural); no account or key is used, and nothing leaves this machine.</p>
<h2>Stand-ins</h2><ul>${wires.map(wireHtml).join('')}</ul>
<h2>Last jobs</h2>${jobs.length === 0 ? '<p>None yet.</p>' : tableHtml(jobs)}</html>`;
}

function wireHtml(wire: Wire): string {
  const operations = [...new Set(wire.routes.map((route) => route.operation))];
  return `<li><b>${escape(wire.name)}</b>: ${escape(operations.join(', '))}</li>`;
}

function tableHtml(jobs: readonly Job[]): string {
  const rows = jobs.map((job) => {
    const cells = [
      new Date(job.submittedAt).toISOString(),
      job.wire,
      job.operation,
      job.state,
      typeof job.input['prompt'] === 'string' ? job.input['prompt'] : '',
    ];
    return `<tr>${cells.map((cell) => `<td>${escape(cell.slice(0, 300))}</td>`).join('')}</tr>`;
  });
  return `<table><tr><th>submitted<th>stand-in<th>operation<th>state<th>prompt</tr>${rows.join('')}</table>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
