import { parseArgs } from 'node:util';

import { httpAddress } from '../../platform/config/settings/formats.ts';
import { AppError } from '../../platform/errors.ts';

/** What `npm run import` is told. */
export interface ImportOptions {
  /** Base addresses of the old services; null when one is not imported from. */
  readonly media: string | null;
  readonly workflow: string | null;
  /** Sent to the old services as Authorization. */
  readonly authorization: string | null;
  /** A file with one user id a line, whose payments and executions are taken over. */
  readonly users: string | null;
  /** Whether results are copied into Kiln's storage now, not at their first read. */
  readonly copyFiles: boolean;
  readonly dryRun: boolean;
  /** Most requests a second to each old service. */
  readonly perSecond: number;
}

const USAGE = `npm run import -- --media URL --workflow URL [--authorization TOKEN] [--users FILE [--copy-files]]
                  [--per-second N] [--dry-run]

Takes templates of existing services over, and with --users the payments and executions of the user ids in FILE (one a
line), reading them only. --copy-files also brings their results into Kiln's storage; otherwise that happens when somebody
first asks for them. The settings say which Kiln it writes to (DATABASE_URL or DATA_DIR), as for npm start; that Kiln may
run meanwhile.`;

const DEFAULT_PER_SECOND = 10;

/** Reads the command line. BAD_USER_INPUT with the usage. */
export function readOptions(words: readonly string[]): ImportOptions {
  const values = parsed(words);
  const media = address('--media', values.media);
  const workflow = address('--workflow', values.workflow);
  if (media === null && workflow === null) throw wrong('--media URL, --workflow URL or both are needed');
  if (values.users !== undefined && workflow === null) throw wrong('--users needs --workflow URL');
  if (values['copy-files'] === true && values.users === undefined)
    throw wrong('--copy-files needs --users FILE');
  const perSecond = Number(values['per-second'] ?? DEFAULT_PER_SECOND);
  if (!(perSecond > 0 && perSecond <= 1_000)) throw wrong('--per-second must be a number up to 1000');
  return {
    media,
    workflow,
    authorization: parseAuthorization(values.authorization),
    users: values.users ?? null,
    copyFiles: values['copy-files'] === true,
    dryRun: values['dry-run'] === true,
    perSecond,
  };
}

function parsed(words: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...words],
      options: {
        media: text,
        workflow: text,
        authorization: text,
        users: text,
        'copy-files': { type: 'boolean' },
        'per-second': text,
        'dry-run': { type: 'boolean' },
      },
    }).values;
  } catch (thrown) {
    throw wrong(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function address(name: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  const found = httpAddress.safeParse(value);
  if (!found.success) throw wrong(`${name} must be an http:// or https:// address`);
  return found.data;
}

/** A token without a scheme is a bearer token. */
function parseAuthorization(value: string | undefined): string | null {
  if (!value) return null;
  return value.includes(' ') ? value : `Bearer ${value}`;
}

function wrong(message: string): AppError {
  return new AppError('BAD_USER_INPUT', `${message}\n\n${USAGE}`);
}
