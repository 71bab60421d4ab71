import { toError } from '../../platform/errors.ts';

interface Joining<Out> {
  readonly joined: Promise<Out>;
}

const DONE = { value: undefined, done: true } as const;

/**
 * Takes events of a source before they are asked for, and joins up to `most` of them at once, in their order. Until the reader has
 * taken them they count: a slow one keeps the source waiting.
 */
export function joinAhead<In, Out>(
  source: AsyncIterator<In>,
  join: (value: In) => Promise<Out>,
  most: number,
): AsyncIterator<Joining<Out>> {
  const { ready, waiting, deliver } = createQueue<IteratorResult<Joining<Out>>>();
  let held = 0;
  let isTaking = false;
  let isOver = false;

  const joining = (joined: Promise<Out>): void => {
    // Its reader receives a failure when it reaches it.
    joined.catch(() => undefined);
    held += 1;
    deliver({ value: { joined }, done: false });
  };
  const end = (): void => {
    isOver = true;
    for (const resolve of waiting.splice(0)) resolve(DONE);
  };
  const take = (): void => {
    if (isTaking || isOver || held >= most) return;
    isTaking = true;
    source.next().then(
      (item) => {
        isTaking = false;
        if (isOver) return;
        if (item.done === true) return end();
        joining(Promise.try(join, item.value));
        take();
      },
      (thrown: unknown) => {
        if (isOver) return;
        joining(Promise.reject(toError(thrown)));
        end();
      },
    );
  };
  return {
    next() {
      // What was given before has been taken.
      if (held > 0) held -= 1;
      take();
      const item = ready.shift();
      if (item !== undefined) return Promise.resolve(item);
      if (isOver) return Promise.resolve(DONE);
      return new Promise((resolve) => waiting.push(resolve));
    },
    return() {
      ready.length = 0;
      end();
      void source.return?.();
      return Promise.resolve(DONE);
    },
  };
}

/** What waits for its reader, or the reader for it. */
function createQueue<Item>() {
  const ready: Item[] = [];
  const waiting: ((item: Item) => void)[] = [];
  const deliver = (item: Item): void => {
    const resolve = waiting.shift();
    if (resolve === undefined) ready.push(item);
    else resolve(item);
  };
  return { ready, waiting, deliver };
}
