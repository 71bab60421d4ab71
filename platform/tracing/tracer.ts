import type { Span, SpanOptions } from './span.ts';

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
