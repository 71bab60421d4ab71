import { describe, expect, it } from 'vitest';

import {
  activeTraceparent,
  createTraceparent,
  inSpan,
  outsideSpans,
  parseTraceparent,
  runInSpan,
  type Span,
  traceIdIn,
  withSpan,
} from './span.ts';

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

/** A span that notes what becomes of it and of those below it. */
function recorded(name: string, seen: string[] = []): { readonly span: Span; readonly seen: string[] } {
  const span: Span = {
    traceparent: name,
    child: (child) => recorded(`${name}/${child}`, seen).span,
    rename: () => undefined,
    set: () => undefined,
    fail: (error) => void seen.push(`${name} failed: ${(error as Error).message}`),
    end: () => void seen.push(`${name} ended`),
  };
  return { span, seen };
}

describe('work as a span', () => {
  it('ends with what it gives, or with its failure', async () => {
    const { span, seen } = recorded('s');
    expect(withSpan(span, (own) => own?.traceparent)).toBe('s');
    expect(() =>
      withSpan(span, () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(seen).toEqual(['s ended', 's failed: no', 's ended']);
    let end = (): void => undefined;
    const later = withSpan(span, () => new Promise<void>((resolve) => (end = resolve)));
    expect(seen).toHaveLength(3);
    end();
    await later;
    await expect(withSpan(span, () => Promise.reject(new Error('late')))).rejects.toThrow('late');
    expect(seen.slice(3)).toEqual(['s ended', 's failed: late', 's ended']);
  });

  it('is active while it runs, below the one that is', () => {
    const { span, seen } = recorded('s');
    expect(inSpan('alone', {}, (own) => own)).toBeNull();
    expect(withSpan(null, (own) => own)).toBeNull();
    expect([runInSpan(null, activeTraceparent), runInSpan(span, activeTraceparent)]).toEqual([null, 's']);
    expect(seen).toEqual([]);
    withSpan(span, () => {
      expect(inSpan('below', {}, () => activeTraceparent())).toBe('s/below');
      expect(outsideSpans(activeTraceparent)).toBeNull();
      expect(activeTraceparent()).toBe('s');
    });
    expect([activeTraceparent(), outsideSpans(() => 1)]).toEqual([null, 1]);
    expect(seen).toEqual(['s/below ended', 's ended']);
  });
});

describe('a traceparent', () => {
  it('of stored work is the active one, else one of its trace that nobody records', () => {
    const { span } = recorded('s');
    expect(runInSpan(span, () => createTraceparent(TRACE))).toBe('s');
    const made = createTraceparent(TRACE);
    expect(made).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    expect(traceIdIn(made)).toBe(TRACE);
    expect([createTraceparent(undefined), createTraceparent('x'), traceIdIn(null)]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it.each([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`01-${TRACE}-${SPAN}-10-more`, 16],
  ])('%s is read', (text, traceFlags) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags });
  });

  it.each([
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}`,
    '',
    null,
  ])('%s is none', (text) => {
    expect(parseTraceparent(text)).toBeNull();
  });
});
