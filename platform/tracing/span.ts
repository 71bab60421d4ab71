import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** Spans of a trace, and the active one. Without a tracer no span is ever active, and all of this does nothing. */

/** Work between two moments, as a part of a trace. */
export interface Span {
  /** Names it for other processes and for later: W3C trace context. */
  readonly traceparent: string;
  /** Starts a span below it. */
  child(name: string, options?: SpanOptions): Span;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Records that the work failed. It still has to end. */
  fail(error: unknown): void;
  end(): void;
}

/** Values of an attribute are bounded: no prompts, no secrets, no addresses with queries. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** What it is of the two sides of a call (default: internal work). */
  readonly kind?: 'server' | 'client' | 'consumer';
  readonly attributes?: Attributes;
}

const active = new AsyncLocalStorage<Span | undefined>();

/** The W3C traceparent of the active span; null when there is none. */
export function activeTraceparent(): string | null {
  return active.getStore()?.traceparent ?? null;
}

/** What stored work keeps of the trace it belongs to: the active span, else a span of this id that nobody records. */
export function createTraceparent(traceId: string | undefined): string | null {
  const traceparent = activeTraceparent();
  if (traceparent !== null || !/^[0-9a-f]{32}$/.test(traceId ?? '')) return traceparent;
  return `00-${traceId ?? ''}-${randomBytes(8).toString('hex')}-00`;
}

/** The id of a trace, by the traceparent of one of its spans. */
export function traceIdIn(traceparent: string | null): string | null {
  return traceparent?.split('-')[1] ?? null;
}

/** Runs work with the span active; it is not ended. */
export function runInSpan<Answer>(span: Span | null, work: () => Answer): Answer {
  return span === null ? work() : active.run(span, work);
}

/** Runs work with no span active: what goes on for ever must not stay in the trace of whoever woke it. */
export function outsideSpans<Answer>(work: () => Answer): Answer {
  return active.getStore() === undefined ? work() : active.run(undefined, work);
}

/** Runs work as the span, which ends with it. */
export function withSpan<Answer>(span: Span | null, work: (span: Span | null) => Answer): Answer {
  if (span === null) return work(null);
  try {
    const answer = active.run(span, work, span);
    if (!(answer instanceof Promise)) {
      span.end();
      return answer;
    }
    answer.then(
      () => span.end(),
      (error: unknown) => endFailed(span, error),
    );
    return answer;
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
}

/** Runs work as a span below the active one; without one it is just run. */
export function inSpan<Answer>(
  name: string,
  options: SpanOptions,
  work: (span: Span | null) => Answer,
): Answer {
  const parent = active.getStore();
  return parent === undefined ? work(null) : withSpan(parent.child(name, options), work);
}

function endFailed(span: Span, error: unknown): void {
  span.fail(error);
  span.end();
}

/** Starts the first span of a trace in this process; everything below it is found by inSpan. */
export interface Tracer {
  /** Null when nothing is traced. */
  start(name: string, options?: TraceOptions): Span | null;
}

interface TraceOptions extends SpanOptions {
  /** The span of another process, or of before, that it continues. One that is malformed is as none. */
  readonly traceparent?: string | null | undefined;
  /** The id of the new trace, when it continues none (32 hexadecimal digits; default: a new one). */
  readonly traceId?: string;
}

/** Traces nothing. */
export const noTracer: Tracer = { start: () => null };

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The parts of a traceparent; null when it is malformed. Later versions may have more after the flags; ff is none. */
export function parseTraceparent(text: string | null | undefined) {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}
