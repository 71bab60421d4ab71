/**
 * Sockets are opened a few at a time, the others wait in line: of a crowd that comes at once the first are served while the
 * last wait, in place of all of them being served late together.
 */
export type HandshakeQueue = ReturnType<typeof createHandshakeQueue>;

/** The turn of one socket, which ends by itself after a moment: a client that says nothing holds nobody up. */
export interface Turn {
  /** Ends it; further calls do nothing. */
  end(): void;
}

export interface HandshakeQueueOptions {
  /** Most turns at the same time (default 1,000). */
  readonly atOnce?: number;
  /** Milliseconds after which a turn ends by itself (default 500). */
  readonly turnMs?: number;
  /** Most milliseconds in line (default 8,000). */
  readonly patienceMs?: number;
}

/** Makes a line that is empty. */
export function createHandshakeQueue(options: HandshakeQueueOptions = {}) {
  const { atOnce = 1_000, turnMs = 500, patienceMs = 8_000 } = options;
  const line = new Set<(turn: Turn | null) => void>();
  let running = 0;

  function begin(): Turn {
    running += 1;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      running -= 1;
      const [next] = line;
      if (next !== undefined) next(begin());
    };
    const timer = setTimeout(end, turnMs);
    timer.unref();
    return { end };
  }

  return {
    /** Those in line. */
    get waiting() {
      return line.size;
    },
    /** Resolves with a turn, or with null: there was none in time, or `gone` has fired. */
    async enter(gone: AbortSignal): Promise<Turn | null> {
      if (gone.aborted) return null;
      if (running < atOnce) return begin();
      const { promise, resolve } = Promise.withResolvers<Turn | null>();
      const leave = (turn: Turn | null): void => {
        line.delete(leave);
        clearTimeout(timer);
        gone.removeEventListener('abort', quit);
        resolve(turn);
      };
      const quit = (): void => leave(null);
      const timer = setTimeout(quit, patienceMs);
      timer.unref();
      gone.addEventListener('abort', quit, { once: true });
      line.add(leave);
      return await promise;
    },
  };
}
