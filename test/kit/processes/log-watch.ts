import type { LogLevel } from '../../../platform/config/settings/log-levels.ts';

/**
 * Secrets known by their form, looked for in every line that any Kiln of the tests logs, debug included. Those that a test
 * has used are looked for by hostile/silent-logs.test.ts.
 */
const FORMS: Readonly<Record<string, RegExp>> = {
  'a token': /eyJ[\w-]{8,}\.[\w-]*\.[\w-]+/,
  'a refresh token': /ses_[\w-]{10,}\.\d+\.[\w-]{20,}/,
  'a service key': /kiln_[0-9a-f]{16,}/,
  'a cookie': /kiln-sign-in-[\w-]+=|_session=[\w-]{8,}/,
  'a bearer': /bearer +(?!\[redacted\])[\w+/=.~-]{8,}/i,
  'a parameter':
    /\b(?:login_code|access_token|refresh_token|id_token|code_verifier|client_secret)=(?!\[redacted\])[^\s&"]/,
  'a key of somebody else': /\b(?:sk|rk|whsec)[-_](?!\[redacted\])[\w+/-]{12,}/,
};

const LEVELS: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };
const MAX_KEPT = 20;

/** Where a logger writes to, as pino takes it. */
export interface LogWatch {
  write(line: string): void;
  /** Throws when a line held a secret, with what it was. */
  expectSilence(): void;
}

/** Passes on to the standard output what is of the level `shown`, or above. */
export function watchLog({
  shown,
  onLine = () => undefined,
}: {
  readonly shown: LogLevel;
  readonly onLine?: ((line: string) => void) | undefined;
}): LogWatch {
  const leaks: string[] = [];
  return {
    write(line) {
      onLine(line);
      const level = Number(/^\{"level":(\d+)/.exec(line)?.[1]);
      if (level >= LEVELS[shown]) process.stdout.write(line);
      if (leaks.length < MAX_KEPT) leaks.push(...leaksIn(line));
    },
    expectSilence: () => refuse(leaks),
  };
}

/** Throws when one of the log lines in what a process has printed holds a secret. */
export function expectSilentOutput(printed: string): void {
  refuse(printed.split('\n').flatMap((line) => (line.startsWith('{"level"') ? leaksIn(line) : [])));
}

function leaksIn(line: string): string[] {
  return Object.entries(FORMS).flatMap(([what, form]) => (form.test(line) ? [`${what}: ${line}`] : []));
}

function refuse(leaks: readonly string[]): void {
  if (leaks.length > 0) throw new Error(`the log holds secrets:\n${leaks.slice(0, MAX_KEPT).join('')}`);
}
