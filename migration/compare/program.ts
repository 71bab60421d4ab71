import { parseArgs } from 'node:util';

import { httpAddress } from '../../platform/config/settings/formats.ts';
import { badInput, toError } from '../../platform/errors.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import type { Section } from '../../rest-compat/route/route.ts';
import { readRecording } from '../traffic/recordings.ts';
import { compareTraffic } from './compare.ts';
import { createFindOperation } from './operations.ts';
import { createReplayedService, type ReplayedService } from './service.ts';
import { formatTable, createTally } from './tally.ts';

/** What `npm run compare` does with its options. */

const USAGE = `npm run compare -- --recorded FILE --new URL [--old URL] [--authorization TOKEN] [--new-authorization TOKEN]
                   [--base URL] [--wait SECONDS] [--per-second N] [--json]

FILE is a HAR, or what npm run record wrote. Of a HAR the requests below --base count (as it was recorded; without it
those below --old, or all). Without --old the recorded answers are compared. Only reads are sent to the old service,
and starts only to a Kiln whose models are all of the sandbox; what changes data or money is not sent.
Exit code 0: all equal; 1: something differs, a field is not read, or a service does not answer; 2: it could not be done.`;

/** What is printed, and the exit code. */
interface Outcome {
  readonly text: string;
  readonly exitCode: 0 | 1;
}

/** Compares the operations of the tables as the command line says. Throws BAD_USER_INPUT with the usage. */
export async function runComparison(
  words: readonly string[],
  sections: readonly Section[],
): Promise<Outcome> {
  const { recorded, base, json, waitMs, ...options } = readOptions(words);
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger: silentLogger() });
  const serviceAt = (url: string, authorization: string | null) =>
    createReplayedService({ http, url, authorization, perSecond: options.perSecond });
  try {
    const now = serviceAt(options.new, options.newAuthorization);
    const old = options.old === null ? null : serviceAt(options.old, options.authorization);
    const tally = createTally();
    const maySendStarts = await isSandbox(now);
    const parts = { find: createFindOperation(sections), old, now, maySendStarts, maxWaitMs: waitMs, tally };
    await compareTraffic(parts, readRecording({ file: recorded, base }));
    const result = tally.result();
    const text = json ? JSON.stringify(result, null, 2) : formatTable(result);
    return { text, exitCode: result.isEqual ? 0 : 1 };
  } finally {
    await http.close();
  }
}

function readOptions(words: readonly string[]) {
  const values = parsed(words);
  if (!values.recorded) throw wrong('recorded', '--recorded FILE is needed');
  const old = values.old === undefined ? null : address('--old', values.old);
  return {
    recorded: values.recorded,
    old,
    new: address('--new', values.new),
    base: values.base === undefined ? old : address('--base', values.base),
    authorization: bearer(values.authorization),
    newAuthorization: bearer(values['new-authorization']),
    waitMs: parseNumber('--wait', values.wait ?? '60', 3_600) * 1000,
    perSecond: parseNumber('--per-second', values['per-second'] ?? '20', 1_000),
    json: values.json === true,
  };
}

function parsed(words: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...words],
      options: {
        recorded: text,
        old: text,
        new: text,
        base: text,
        authorization: text,
        'new-authorization': text,
        wait: text,
        'per-second': text,
        json: { type: 'boolean' },
      },
    }).values;
  } catch (thrown) {
    throw wrong('options', toError(thrown).message);
  }
}

function address(name: string, value: string | undefined): string {
  const found = httpAddress.safeParse(value);
  if (found.success) return found.data;
  throw wrong(name, `${name} must be an http:// or https:// address`);
}

function parseNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (value > 0 && value <= most) return value;
  throw wrong(name, `${name} must be a number up to ${most}`);
}

/** A token without a scheme is a bearer token. */
function bearer(value: string | undefined): string | null {
  if (!value) return null;
  return value.includes(' ') ? value : `Bearer ${value}`;
}

function wrong(field: string, message: string) {
  return badInput(field, `${message}\n\n${USAGE}`);
}

/** Whether a Kiln makes everything in its sandbox: only then may work be started there. */
async function isSandbox(service: ReplayedService): Promise<boolean> {
  const lists = [
    '/api/union/img/model/list',
    '/api/union/video/model/list',
    '/api/custom/extend/model/list',
    '/api/llm/model/list',
  ];
  for (const target of lists) {
    const answer = await service.send({ method: 'GET', target, headers: {}, body: null });
    const data = (answer?.json as { readonly data?: unknown } | undefined)?.data;
    if (!Array.isArray(data) || data.length === 0) return false;
    if (data.some((model: { readonly sandbox?: unknown }) => model.sandbox !== true)) return false;
  }
  return true;
}
