import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';

/** How a connection that shall last is made and ended. */
export interface LastingConnectionOptions<Connection> {
  /** Connects; `lost` is called once when the connection ends without having been closed by `end`. */
  readonly connect: (lost: (error?: Error) => void) => Promise<Connection>;
  /** Ends a connection, which may be broken already; must not reject. */
  readonly end: (connection: Connection) => Promise<void>;
  readonly logger: Logger;
  /** Called when there is a connection again after there was none. */
  readonly onReconnect: () => void;
  /** Rejects when the first attempt fails; else it is repeated in the background. */
  readonly mustConnect: boolean;
}

/** A connection that is made again whenever it is lost. */
export interface LastingConnection<Connection> {
  /** Null while there is none. */
  current(): Connection | null;
  close(): Promise<void>;
}

/** First and longest pause between attempts to reconnect. */
const RETRY_MS = { first: 100, longest: 5000 } as const;

/** Connects, and again with growing pauses whenever the connection is lost. */
export async function createLastingConnection<Connection>(
  options: LastingConnectionOptions<Connection>,
): Promise<LastingConnection<Connection>> {
  const { logger, connect, end, onReconnect } = options;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let pause: number = RETRY_MS.first;
  let current: Connection | null = null;

  function lost(error: Error | undefined): void {
    current = null;
    if (closed || timer) return;
    logger.warn({ error }, 'lost the connection for wake-ups');
    plan();
  }

  function plan(): void {
    timer = setTimeout(() => void again(), pause);
    pause = Math.min(pause * 2, RETRY_MS.longest);
  }

  async function again(): Promise<void> {
    // Before the attempt: a connection may be lost before its attempt has ended.
    timer = undefined;
    try {
      const fresh = await connect(lost);
      if (closed) {
        await end(fresh);
        return;
      }
      current = fresh;
      pause = RETRY_MS.first;
      logger.info('listening for wake-ups again');
      onReconnect();
    } catch (thrown) {
      logger.debug({ error: toError(thrown) }, 'cannot listen for wake-ups yet');
      if (!closed) plan();
    }
  }

  try {
    current = await connect(lost);
  } catch (thrown) {
    if (options.mustConnect) throw thrown;
    lost(toError(thrown));
  }
  return {
    current: () => current,
    async close() {
      closed = true;
      clearTimeout(timer);
      if (current !== null) await end(current);
    },
  };
}
