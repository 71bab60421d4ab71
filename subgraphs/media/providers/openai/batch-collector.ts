import type { StartContext } from '../contract/provider.ts';
import { buildUrl } from '../shared/exchange.ts';

/** Gathers starts that come at about the same time, so that they go as one batch. */

/** One start of a batch. */
export interface BatchLine {
  /** What the vendor does it by, as `/v1/images/generations`. */
  readonly endpoint: string;
  readonly model: string;
  /** The whole line of the input file. */
  readonly text: string;
  readonly context: StartContext;
}

/** Most lines of one batch: its results are brought here as one file, some 3 MB for each. */
const MOST_LINES = 100;
/** Most bytes of its input file; the vendor takes 200 MB. */
const MOST_BYTES = 64 << 20;
/** Milliseconds without another line after which a batch is sent, and its longest wait for lines. */
const QUIET_MS = 1_500;
const LONGEST_WAIT_MS = 20_000;

interface Group {
  readonly lines: BatchLine[];
  readonly sent: PromiseWithResolvers<string>;
  readonly since: number;
  bytes: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Gathers lines for what sends a batch; `add` answers the id of the batch that a line went with. Each line of a batch fails as
 * its sending does.
 */
export function createCollector(send: (lines: readonly BatchLine[]) => Promise<string>) {
  const open = new Map<string, Group>();
  const close = (key: string, group: Group): void => {
    clearTimeout(group.timer);
    open.delete(key);
    send(group.lines).then(group.sent.resolve, group.sent.reject);
  };
  return {
    add(line: BatchLine): Promise<string> {
      const key = formatKey(line);
      const group = open.get(key) ?? newGroup();
      open.set(key, group);
      group.lines.push(line);
      group.bytes += Buffer.byteLength(line.text) + 1;
      const leftMs = group.since + LONGEST_WAIT_MS - performance.now();
      const isFull = group.lines.length >= MOST_LINES || group.bytes >= MOST_BYTES;
      clearTimeout(group.timer);
      if (isFull || leftMs <= 0) close(key, group);
      else group.timer = setTimeout(() => close(key, group), Math.min(QUIET_MS, leftMs));
      return group.sent.promise;
    },
  };
}

function newGroup(): Group {
  return {
    lines: [],
    sent: Promise.withResolvers<string>(),
    since: performance.now(),
    bytes: 0,
    timer: undefined,
  };
}

/** A batch is of one account, one endpoint and one model. */
function formatKey({ endpoint, model, context: { connection } }: BatchLine): string {
  return JSON.stringify([buildUrl(connection, endpoint), connection.headers, model]);
}
