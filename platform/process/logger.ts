import { type DestinationStream, pino } from 'pino';

import type { LogLevel, LogPart } from '../config/settings/log-levels.ts';
import { redact, redactText } from './redact.ts';

/** Fields of a log line. Errors go under `error`; secrets are removed by key and by pattern. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The logger of all parts, on pino. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** Makes a logger that adds these fields to each of its lines. */
  child(fields: LogFields): Logger;
  /** The logger of a part of the process, which may have a level of its own; its lines say `part`. */
  part(name: LogPart): Logger;
}

/** Logs a message, with fields before it when there are any. */
export interface LogMethod {
  (message: string): void;
  (fields: LogFields, message: string): void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Levels of parts (default: that of all). */
  readonly parts?: Readonly<Partial<Record<LogPart, LogLevel>>>;
  /** Readable lines instead of JSON (development, on a terminal). */
  readonly pretty?: boolean;
  /** Destination (default: standard output). */
  readonly destination?: DestinationStream;
}

/** Makes the logger of a process. Lines are written synchronously, so the last one before an exit is not lost. */
export function createLogger({ level, parts = {}, pretty = false, destination }: LoggerOptions): Logger {
  const target = destination ?? standardOutput();
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  return wrap(pino(options, pretty ? humanLines(target) : target), { parts, repeats: createRepeats() });
}

/** Lines that nobody reads any more (EPIPE) are dropped: the work goes on without a log. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true });
  output.on('error', () => undefined);
  return output;
}

/** A silent logger, for tests and tools. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent', destination: { write: () => undefined } });
}

type Level = Exclude<LogLevel, 'silent'>;

interface Shared {
  readonly parts: NonNullable<LoggerOptions['parts']>;
  readonly repeats: Repeats;
}

/** Warnings and errors are left out where they repeat too often. */
function wrap(inner: pino.Logger, shared: Shared): Logger {
  const method = (level: Level): LogMethod => {
    return (first: string | LogFields, message?: string) => {
      if (!inner.isLevelEnabled(level)) return;
      const text = typeof first === 'string' ? first : (message ?? '');
      const leftOut = level === 'warn' || level === 'error' ? shared.repeats.next(text) : 0;
      if (leftOut === null) return;
      const fields = typeof first === 'string' ? {} : (redact(first) as LogFields);
      inner[level](leftOut === 0 ? fields : { ...fields, leftOut }, redactText(text));
    };
  };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    child: (fields) => wrap(inner.child(redact(fields) as LogFields), shared),
    part(name) {
      const level = shared.parts[name];
      return wrap(inner.child({ part: name }, level === undefined ? {} : { level }), shared);
    },
  };
}

/** Formats `12:30:01 info message name=value`, with the stack of an error below it. */
function humanLines(target: DestinationStream): DestinationStream {
  return { write: (line) => target.write(humanLine(line)) };
}

function humanLine(line: string): string {
  const { level, time, msg, pid: _pid, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = pino.levels.labels[Number(level)] ?? 'info';
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${humanValue(value)}`);
  const head = [String(time).slice(11, 19), name.padEnd(5), typeof msg === 'string' ? msg : '', ...rest].join(
    ' ',
  );
  return error === undefined ? `${head}\n` : `${head}\n${humanError(error)}\n`;
}

function humanValue(value: unknown): string {
  return typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value);
}

function humanError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return `  ${String(error)}`;
  const { stack, message, cause } = error as { stack?: string; message?: string; cause?: unknown };
  const own = `  ${(stack ?? message ?? JSON.stringify(error)).replaceAll('\n', '\n  ')}`;
  return cause === undefined ? own : `${own}\n  caused by:\n${humanError(cause)}`;
}

/** Lets the first lines of a message through in each minute, and counts the others: an outage must not fill the log. */
type Repeats = ReturnType<typeof createRepeats>;

/** Lines of one message in a minute. */
const MOST = 60;
const MINUTE_MS = 60_000;
/** Messages that are told apart; they are written in the code, so there are not many. */
const MAX_MESSAGES = 1_000;

interface Counted {
  startedAt: number;
  lines: number;
  left: number;
}

/** Makes the counts of one logger; `now` is in milliseconds. */
export function createRepeats(now: () => number = Date.now) {
  const messages = new Map<string, Counted>();
  return {
    /** Null: leave this line out. Otherwise how many of its message were left out before it. */
    next(message: string): number | null {
      const at = now();
      let counted = messages.get(message);
      if (counted === undefined) {
        if (messages.size >= MAX_MESSAGES) messages.clear();
        counted = { startedAt: at, lines: 0, left: 0 };
        messages.set(message, counted);
      }
      if (at - counted.startedAt >= MINUTE_MS) Object.assign(counted, { startedAt: at, lines: 0 });
      if (counted.lines >= MOST) {
        counted.left += 1;
        return null;
      }
      counted.lines += 1;
      const { left } = counted;
      counted.left = 0;
      return left;
    },
  };
}
