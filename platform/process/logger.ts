import { type DestinationStream, pino } from 'pino';

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
}

/** Logs a message, with fields before it when there are any. */
export interface LogMethod {
  (message: string): void;
  (fields: LogFields, message: string): void;
}

/** Least severe level that is logged; `silent` logs nothing. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Readable lines instead of JSON (development, on a terminal). */
  readonly pretty?: boolean;
  /** Destination (default: standard output). */
  readonly destination?: DestinationStream;
}

/** Makes the logger of a process. Lines are written synchronously, so the last one before an exit is not lost. */
export function createLogger({ level, pretty = false, destination }: LoggerOptions): Logger {
  const target = destination ?? standardOutput();
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  return wrap(pino(options, pretty ? humanLines(target) : target));
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

function wrap(inner: pino.Logger): Logger {
  const method = (level: Level): LogMethod => {
    return (first: string | LogFields, message?: string) => {
      if (!inner.isLevelEnabled(level)) return;
      if (typeof first === 'string') inner[level](redactText(first));
      else inner[level](redact(first) as LogFields, redactText(message ?? ''));
    };
  };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    child: (fields) => wrap(inner.child(redact(fields) as LogFields)),
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
