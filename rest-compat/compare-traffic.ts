import { parseArgs } from 'node:util';

import { httpAddress } from '../platform/config/settings/formats.ts';
import { AppError, badInput, toError } from '../platform/errors.ts';
import { createOutboundRule } from '../platform/http/safe-url.ts';
import { createHttpClient } from '../platform/http/undici-http-client.ts';
import { silentLogger } from '../platform/process/logger.ts';
import { compareTraffic } from './compare/compare.ts';
import { createFindOperation } from './compare/operations.ts';
import { isSandbox } from './compare/sandbox.ts';
import { createReplayedService } from './compare/service.ts';
import { tableOf } from './compare/table.ts';
import { createTally } from './compare/tally.ts';
import { sections } from './tables.ts';
import { readRecording } from './traffic/recordings.ts';

// `npm run compare`: replays recorded traffic and compares the answers of an old service with Kiln's. Exit code 0: all
// equal; 1: something differs, or a field is not read; 2: it could not be done.

const USAGE = `npm run compare -- --recorded FILE --new URL [--old URL] [--authorization TOKEN] [--new-authorization TOKEN]
                   [--wait SECONDS] [--per-second N] [--json]

FILE is a HAR, or what npm run record wrote. Without --old the recorded answers are compared. Only reads are sent to the
old service, and starts only to a Kiln whose models are all of the sandbox; what changes data or money is not sent.`;

try {
  process.exitCode = await main();
} catch (thrown) {
  const isExpected = thrown instanceof AppError || (thrown instanceof Error && 'code' in thrown);
  process.stderr.write(`${isExpected ? thrown.message : (toError(thrown).stack ?? '')}\n`);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const { recorded, old: oldUrl, new: newUrl, json, ...options } = readOptions();
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger: silentLogger() });
  try {
    const access = { http, perSecond: options.perSecond };
    const now = createReplayedService({ ...access, url: newUrl, authorization: options.newAuthorization });
    const old =
      oldUrl === null
        ? null
        : createReplayedService({ ...access, url: oldUrl, authorization: options.authorization });
    const tally = createTally();
    const maySendStarts = await isSandbox(now);
    const parts = { find: createFindOperation(sections), old, now, maySendStarts, tally };
    await compareTraffic({ ...parts, maxWaitMs: options.waitMs }, readRecording(recorded));
    const result = tally.result();
    process.stdout.write(`${json ? JSON.stringify(result, null, 2) : tableOf(result)}\n`);
    return result.isEqual ? 0 : 1;
  } finally {
    await http.close();
  }
}

function readOptions() {
  const text = { type: 'string' } as const;
  const { values } = parsed(() =>
    parseArgs({
      options: {
        recorded: text,
        old: text,
        new: text,
        authorization: text,
        'new-authorization': text,
        wait: text,
        'per-second': text,
        json: { type: 'boolean' },
      },
    }),
  );
  if (!values.recorded) throw badInput('recorded', `--recorded FILE is needed\n\n${USAGE}`);
  return {
    recorded: values.recorded,
    old: values.old === undefined ? null : address('--old', values.old),
    new: address('--new', values.new),
    authorization: bearer(values.authorization),
    newAuthorization: bearer(values['new-authorization']),
    waitMs: Number(values.wait ?? 60) * 1000,
    perSecond: Number(values['per-second'] ?? 20),
    json: values.json === true,
  };
}

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (thrown) {
    throw badInput('options', `${toError(thrown).message}\n\n${USAGE}`);
  }
}

function address(name: string, value: string | undefined): string {
  const found = httpAddress.safeParse(value);
  if (found.success) return found.data;
  throw badInput(name, `${name} must be an http:// or https:// address\n\n${USAGE}`);
}

/** A token without a scheme is a bearer token. */
function bearer(value: string | undefined): string | null {
  if (!value) return null;
  return value.includes(' ') ? value : `Bearer ${value}`;
}
